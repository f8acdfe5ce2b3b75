/**
 * A server that ends itself with SIGKILL after a step of a deployment: `node killable-server.ts SOCKET FOLDER`. It says
 * where it listens, and is told over IPC after which step, and after how many of that name.
 */
import { startServer } from './server.ts';

const [socket = '', folder = ''] = process.argv.slice(2);
let fatal: { readonly step: string; left: number } | undefined;
/** A step after which this process stands still, so that the test can end a process before it goes on. */
let held: string | undefined;
const HELD_TIME = 2000;

const server = await startServer({
  ...{ socket, folder, movePatience: Number(process.env['MOVE_PATIENCE'] ?? 30_000) },
  onStep(step) {
    process.send?.({ step });
    if (held === step) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HELD_TIME);
    if (fatal?.step === step && (fatal.left -= 1) === 0) process.kill(process.pid, 'SIGKILL');
  },
});
process.on('message', ({ step, hold }: { step: string; hold?: string }) => {
  held = hold;
  if (hold) return;
  fatal = { step, left: 1 };
  process.send?.({ armed: true });
});
process.on('disconnect', () => process.exit(1));
process.send?.({ url: server.url, ingress: server.ingress });
