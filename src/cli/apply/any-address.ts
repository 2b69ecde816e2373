/** Every address may be meant: it is in the file of the person at this machine. */
export const ANY_ADDRESS = ["0.0.0.0/0", "::/0"];
