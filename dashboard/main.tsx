import { render } from "preact";
import { App } from "./app";
import { restoreScrolling } from "./lib/scroll";
import "./styles/index.css";

const root = document.getElementById("app");
if (root) render(<App />, root);
restoreScrolling();
