/** Goes on after a 404 or 410 of a vendor: somebody has deleted there what was to be deleted. */
export function unlessGone(error) {
  if (error.status !== 404 && error.status !== 410) throw error;
}
