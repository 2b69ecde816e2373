/** Props that say which bot, and for tests where Telegram is. */
export const botProps = {
  token: {
    type: "string",
    label: "Token of the bot",
    description: "As @BotFather shows it.",
    secret: true,
  },
  api: {
    type: "string",
    label: "Address of Telegram's API",
    hidden: true,
    default: "https://api.telegram.org",
  },
};
