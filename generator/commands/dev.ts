import { resolve } from 'node:path';
import { createKnown } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { describeFailure, exitCodeOfFailure, failureAsData } from '../cli/explain-failure.ts';
import { createDevEvents, type EmitDevEvent } from '../dev/dev-events.ts';
import { createDevServer, type DevServer } from '../dev/dev-server.ts';
import { createForesight } from '../dev/foresight.ts';
import { createTrialSave } from '../dev/trial-save.ts';
import { createWarmUp } from '../dev/warm-up.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import type { RunPlan } from '../pipeline.ts';
import { changeAsData } from '../report.ts';
import { exitCodeOf } from './outcome.ts';
import { installPackages } from './install.ts';
import { installedBy } from './package-manager.ts';
import { reportPackages, reportPlan, reportSecrets, runOptions } from './plan-report.ts';
import { createRuns, isInput, untilInterrupted, watchInputs } from './watch.ts';

/**
 * `generator dev`: regenerates, migrates and restarts on save. A server that works keeps running
 * while the inputs have errors.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const interrupted = untilInterrupted();
  const { json } = call.terminal;
  const emit = createDevEvents(json);
  emit('started');
  const server = createDevServer(root, call.terminal, { json, emit });
  const own = ownWrites();
  const options = {
    ...runOptions(call),
    draft: true,
    known: createKnown(),
    added: new Set<string>(),
  };
  const warmUp = createWarmUp(createTrialSave(root, options));
  const codegen = { isDone: false, again: (): void => void (codegen.isDone = true) };
  const runOnce = createRuns(root, {
    ...options,
    foresee: createForesight(root, server),
    codegen: () => codegen.again(),
  });
  const failed = (error: unknown) => {
    emit('failed', { error: failureAsData(error) });
    call.terminal.say(describeFailure(error, call.terminal));
  };
  try {
    const saved = async (paths: ReadonlySet<string>, seen: number) => {
      warmUp.stop();
      const carriedOut = async () => {
        const plan = await runOnce(paths, seen);
        if (plan) await afterRun(plan, { call, server, own, emit, paths, seen });
      };
      await carriedOut().finally(warmUp.start);
    };
    const watcher = await watchInputs(
      root,
      saved,
      failed,
      (path) => isSource(path) && !own.has(path),
    );
    codegen.again = watcher.again;
    // If the plugins ended before the watcher was there, it starts a run now.
    if (codegen.isDone) watcher.again();
    await interrupted;
    watcher.close();
    return EXIT.done;
  } catch (error) {
    // With `--json` the events are all that is printed: a document would be none of them.
    if (!json) throw error;
    failed(error);
    return exitCodeOfFailure(error);
  } finally {
    warmUp.stop();
    await server.stop();
    emit('stopped');
  }
}

interface DevRun {
  readonly call: CommandCall;
  readonly server: DevServer;
  readonly own: ReturnType<typeof ownWrites>;
  readonly emit: EmitDevEvent;
  readonly paths: ReadonlySet<string>;
  /** When the save was seen. */
  readonly seen: number;
}

/** Reports a run, installs what it added, and starts the server again. */
async function afterRun(plan: RunPlan, run: DevRun): Promise<void> {
  const { call, server, own, emit, paths, seen } = run;
  const root = resolve(call.cwd);
  const took = Math.round(performance.now() - seen);
  own.note(plan.changes.filter(({ kind }) => kind !== 'same').map(({ path }) => path));
  if (call.terminal.json) emitPlan(plan, took, emit);
  else await reportPlan(plan, call, false);
  if (await reportSecrets(plan, call)) own.note(['.env']);
  if (!isWritten(plan)) return call.terminal.say(server.running() ? GOES_ON : NO_SERVER);
  call.terminal.note(`generated in ${took} ms`);
  if (reportPackages(plan, call).length > 0)
    await installPackages({ root, manager: installedBy(root) }, call.terminal);
  if (isOfServer(plan, paths) || !server.running()) await server.restart();
}

const GOES_ON = 'The last good server goes on.';
const NO_SERVER = 'No server yet: it starts when this is mended.';

/** Whether the findings of a run let it write its files. */
const isWritten = (plan: RunPlan) =>
  [EXIT.done, EXIT.conflict].some((code) => code === exitCodeOf(plan));

/** Whether a save changed what the server has loaded. Inputs matter only by what they generate. */
const isOfServer = ({ changes }: RunPlan, saved: ReadonlySet<string>) =>
  changes.some(({ kind }) => kind !== 'same') ||
  [...saved].some((path) => !path.startsWith('../') && !/\.(graphql|gql|yaml)$/.test(path));

/** The events of a run: its findings, and what it wrote when they let it write. */
function emitPlan(plan: RunPlan, ms: number, emit: EmitDevEvent): void {
  const { findings, changes } = plan;
  if (findings.length > 0) emit('findings', { findings });
  if (!isWritten(plan)) return;
  const written = changes.filter(({ kind }) => kind !== 'same').map(changeAsData);
  emit('generated', { changes: written, ms });
}

/**
 * Whether a saved file starts a run: inputs, and the user's files that the server loads. Generated
 * files do not.
 */
function isSource(path: string): boolean {
  return (
    isInput(path) ||
    /^\.env$|^migrations[\\/][^\\/]+\.ts$|^src[\\/](?!generated[\\/]).*\.(ts|js|json)$/.test(path)
  );
}

/** Milliseconds until the system reports a written file, at most. */
const REPORT_DELAY = 400;

/**
 * Remembers the files that a run wrote itself, such as a migration: they must not start another
 * run.
 */
function ownWrites(): { note(paths: readonly string[]): void; has(path: string): boolean } {
  const until = new Map<string, number>();
  return {
    note: (paths) => paths.forEach((path) => until.set(path, performance.now() + REPORT_DELAY)),
    has: (path) => (until.get(path.replaceAll('\\', '/')) ?? 0) > performance.now(),
  };
}
