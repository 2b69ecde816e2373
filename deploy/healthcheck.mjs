// Ends with 0 if this container's process is alive: /healthz of the web process or, on WORKER_PORT, of a worker. It asks no
// store, because restarting a process does not bring a store back; /readyz does, for load balancers.
const ports = [process.env.WORKER_PORT, process.env.PORT ?? "3000"].filter(port => port && port !== "0");

const isAlive = async port => {
  try {
    const { ok } = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) });
    return ok;
  } catch {
    return false;
  }
};

const alive = await Promise.all(ports.map(isAlive));
process.exit(alive.includes(true) ? 0 : 1);
