/** Everything that is loaded when it is first shown, apart from the editor and the charts; with its styles. */
import { addStyles } from "../lib/styles";
import styles from "../styles/later/more.css";

export { Alerts } from "./alerts";
export { NeedsAttention } from "./attention";
export { AuditLog } from "./audit-log";
export { ChangeDeliveries } from "./change-deliveries";
export { Components } from "./components";
export { Connections } from "./connections";
export { Delivery } from "./delivery";
export { DeployComponent } from "./deploy-component";
export { Destination } from "./destination";
export { Destinations } from "./destinations";
export { Echo } from "./echo";
export { EventTrace } from "./event";
export { Gallery } from "./gallery";
export { Help } from "./help";
export { Issues } from "./issues";
export { Keys } from "./keys";
export { ConnectionMap } from "./map";
export { NewSource } from "./new-source";
export { Organization } from "./organization";
export { Palette } from "./palette";
export { Queues } from "./queues";
export { ReplayDialog } from "./replay-dialog";
export { Replays } from "./replays";
export { Run } from "./run";
export { Sessions } from "./sessions";
export { Source } from "./source";
export { Start } from "./start";
export { Subscription } from "./subscription";
export { Subscriptions } from "./subscriptions";
export { Usage } from "./usage";
export { Webhook } from "./webhook";
export { Webhooks } from "./webhooks";
export { Workflows } from "./workflows";

addStyles(styles);
