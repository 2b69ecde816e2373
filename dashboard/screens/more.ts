/** Everything that is loaded when it is first shown, apart from the editor and the charts. */
export { Keys, Organization, Sessions, Usage } from "./account";
export { Alerts } from "./alerts";
export { Components } from "./components";
export { Connections } from "./connections";
export { Delivery } from "./delivery";
export { DeployComponent } from "./deploy-component";
export { Destination } from "./destination";
export { Destinations } from "./destinations";
export { Echo } from "./echo";
export { EventTrace } from "./event";
export { NewSource } from "./new-source";
export { SourceCode } from "./source-code";
export { SourceSettings } from "./source-settings";
export { Start } from "./start";
export { Subscription } from "./subscription";
export { Subscriptions } from "./subscriptions";
export { Webhook } from "./webhook";
export { Webhooks } from "./webhooks";
