import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { run as runPipeline } from '../pipeline.ts';
import { disk } from '../write/disk.ts';
import { exitCodeOf } from './outcome.ts';
import { reportPlan, runOptions } from './plan-report.ts';
import { isInput, watchInputs } from './watch.ts';

/** `generator dev`: regenerates, migrates and restarts on save; a server that works goes on while there are errors. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const server = createDevServer(root, call);
  const own = ownWrites();
  const save = async (paths: ReadonlySet<string> = new Set()) => {
    const started = performance.now();
    const plan = await runPipeline(root, runOptions(call), disk);
    own.note(plan.changes.filter(({ kind }) => kind !== 'same').map(({ path }) => path));
    await reportPlan(plan, call, false);
    if (exitCodeOf(plan) !== EXIT.done && exitCodeOf(plan) !== EXIT.conflict) return call.terminal.say(server.running() ? 'The last good server goes on.' : 'No server yet: it starts when this is mended.');
    call.terminal.note(`generated in ${Math.round(performance.now() - started)} ms`);
    const same = plan.changes.every(({ kind }) => kind === 'same') && [...paths].every((path) => /\.(graphql|yaml)$/.test(path));
    if (!same || !server.running()) await server.restart();
  };
  await save();
  const watcher = watchInputs(root, save, (error) => call.terminal.say(error instanceof CommandError ? `${error.message}\n   fix  ${error.fix ?? ''}` : String(error)), (path) => isSource(path) && !own.has(path));
  await new Promise<void>((done) => process.once('SIGINT', done).once('SIGTERM', done));
  watcher.close();
  await server.stop();
  return EXIT.done;
}

/** Inputs, and whatever of the user's the server runs. What the generator writes itself is no reason to run again. */
function isSource(path: string): boolean {
  return isInput(path) || /^\.env$|^migrations[\\/][^\\/]+\.ts$|^src[\\/](?!generated[\\/]).*\.(ts|json)$/.test(path);
}

/** How long the system may take to tell of a file that was written, in milliseconds. */
const ECHO = 400;

/** The migration that a run writes is no save of the user's: it must not start another run. */
function ownWrites(): { note(paths: readonly string[]): void; has(path: string): boolean } {
  const until = new Map<string, number>();
  return {
    note: (paths) => paths.forEach((path) => until.set(path, performance.now() + ECHO)),
    has: (path) => (until.get(path.replaceAll('\\', '/')) ?? 0) > performance.now(),
  };
}

interface DevServer {
  running(): boolean;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a server may take to finish what runs before it is killed, in milliseconds. */
const PATIENCE = 2_000;

function createDevServer(root: string, { terminal }: CommandCall): DevServer {
  let child: ChildProcess | null = null;
  const stop = async () => {
    const old = child;
    child = null;
    if (!old || old.exitCode !== null || old.signalCode !== null) return;
    const ended = new Promise<void>((done) => old.once('close', () => done()));
    const timer = setTimeout(() => old.kill('SIGKILL'), PATIENCE);
    old.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  };
  return {
    running: () => child !== null && child.exitCode === null,
    stop,
    restart: async () => {
      await stop();
      if (!existsSync(join(root, 'src/server.ts'))) return terminal.say('there is no src/server.ts to start');
      const started = spawn(process.execPath, ['src/server.ts'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { NODE_ENV: 'development', ...process.env } });
      child = started;
      started.once('error', (error) => terminal.say(String(error)));
      started.once('exit', (code, signal) => {
        if (child === started) terminal.say(`The server ended (${signal ?? code}). It starts again on the next save.`);
      });
    },
  };
}
