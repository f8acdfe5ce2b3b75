/**
 * A server that ends itself with SIGKILL after a step of a deployment: `node killable-server.ts SOCKET FOLDER`. It says
 * where it listens, and is told over IPC after which step, and after how many of that name.
 */
import { startServer } from './server.ts';

const [socket = '', folder = ''] = process.argv.slice(2);
let fatal: { readonly step: string; left: number } | undefined;

const server = await startServer({
  ...{ socket, folder, movePatience: Number(process.env['MOVE_PATIENCE'] ?? 30_000) },
  onStep(step) {
    process.send?.({ step });
    if (fatal?.step === step && (fatal.left -= 1) === 0) process.kill(process.pid, 'SIGKILL');
  },
});
process.on('message', ({ step }: { step: string }) => {
  fatal = { step, left: 1 };
  process.send?.({ armed: true });
});
process.on('disconnect', () => process.exit(1));
process.send?.({ url: server.url, ingress: server.ingress });
