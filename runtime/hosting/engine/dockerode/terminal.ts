import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type Dockerode from 'dockerode';
import type { EngineTerminal, TerminalSize } from '../engine.ts';

/** Programs draw with colours and cursor movements for this kind of terminal. */
const ENVIRONMENT = ['TERM=xterm-256color'];
/** Milliseconds that a command has to end after SIGHUP. */
const HANG_UP_TIMEOUT = 1000;
/** Ctrl+C, then Ctrl+D: what a person types to leave. */
const LEAVE = '\x03\x04';

/** Runs a command with a terminal in a running container. */
export async function openTerminal(
  container: Dockerode.Container,
  command: readonly string[],
  size: TerminalSize,
): Promise<EngineTerminal> {
  const exec = await container.exec({
    Cmd: [...command],
    Env: ENVIRONMENT,
    Tty: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = await exec.start({ hijack: true, stdin: true, Tty: true });
  const terminal: EngineTerminal = {
    stream,
    resize: async ({ cols, rows }) => {
      // Podman answers 201 where dockerode expects 200, and a command that has ended has no size.
      await exec.resize({ w: cols, h: rows }).catch(() => {});
    },
    exitCode: async () => {
      const state = await exec.inspect().catch(() => null);
      return state && !state.Running ? (state.ExitCode ?? null) : null;
    },
    async end() {
      const running = !stream.readableEnded && !stream.destroyed;
      if (running && stream.writable) stream.write(LEAVE);
      await hangUp(container, exec).catch(() => {});
      stream.destroy();
    },
  };
  await terminal.resize(size);
  return terminal;
}

/**
 * Sends SIGHUP to the command, as a terminal does when its line is cut, and SIGKILL when it goes on.
 * Engines have no call for this, and an image may have no shell. On another machine the process
 * cannot be found, and the keys must do.
 */
async function hangUp(container: Dockerode.Container, exec: Dockerode.Exec): Promise<void> {
  const pid = await pidInContainer(exec);
  if (pid === null) return;
  await signal(container, 'HUP', pid);
  for (const until = Date.now() + HANG_UP_TIMEOUT; Date.now() < until; await sleep(100))
    if ((await pidInContainer(exec)) === null) return;
  await signal(container, 'KILL', pid);
}

/** The engine says which process it is outside; the kernel knows its id inside. */
async function pidInContainer(exec: Dockerode.Exec): Promise<number | null> {
  const { Running: running, Pid: pid } = await exec.inspect();
  if (!running || !pid) return null;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const inside = /^NSpid:.*\s(\d+)$/m.exec(status)?.[1];
  return inside === undefined ? null : Number(inside);
}

async function signal(container: Dockerode.Container, name: string, pid: number): Promise<void> {
  const exec = await container.exec({ Cmd: ['kill', `-${name}`, String(pid)] });
  await exec.start({ Detach: true });
}
