import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Program } from './control.ts';

/**
 * Accepts programs of ingress processes on a Unix socket and starts them as its children. It is the
 * first process of a service of its own: a process that the server started itself would end with
 * the server's service, or run outside of any.
 *
 * @example serveLauncher('/run/twofold/launcher');
 */
export function serveLauncher(path: string): Server {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    json(socket)
      .then((program) => startProgram(program as Program))
      .then(
        (pid) => socket.end(JSON.stringify({ pid })),
        (error: Error) => socket.end(JSON.stringify({ error: error.message })),
      );
  });
  rmSync(path, { force: true });
  return server.listen(path);
}

/**
 * Starts a process that continues when this one ends, and when the folder of this release is gone.
 *
 * @returns its process id.
 */
export async function startProgram({ command, file, settings }: Program): Promise<number> {
  const child = spawn(command, [file, JSON.stringify(settings)], {
    detached: true,
    cwd: '/',
    stdio: 'ignore',
  });
  child.unref();
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('spawn', () => resolve(child.pid!));
  });
}

/** Has the launcher behind this socket start a program. @throws when it does not. */
export async function launchBy(path: string, program: Program): Promise<number> {
  const socket = connect(path);
  socket.end(JSON.stringify(program));
  const { pid, error } = (await json(socket)) as { pid?: number; error?: string };
  if (pid === undefined) throw new Error(error ?? 'no answer');
  return pid;
}
