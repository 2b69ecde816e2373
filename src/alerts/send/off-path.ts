/** The address in mails that turns them off; not a route of the API. */
export const MAIL_OFF_PATH = "/alerts/mail-off";
