import { randomBytes } from 'node:crypto';
import type { CommandCall } from '../../cli/command.ts';
import { type HostingServer, HostingRefusal } from '../../deploy/hosting-server.ts';
import { moveApp } from '../../deploy/move-app.ts';
import { createMoveServer, type MovePlan, type MoveServer } from '../../deploy/move-server.ts';
import { openServer } from '../../deploy/target.ts';
import { environmentOf } from '../../secrets.ts';
import { CommandError, EXIT, type ExitCode } from '../../failure.ts';

/** `generator host move APP`: brings an app from one hosting server to another. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const app = call.positionals[1];
  const { from, to } = call.options;
  if (app === undefined || typeof from !== 'string' || typeof to !== 'string')
    throw new CommandError('ARGUMENT_MISSING', {
      message: 'the name of an app and two servers are needed',
      fix: 'generator host move shop --from https://old.example.com --to https://new.example.com',
    });
  const abort = new AbortController();
  const cancel = () => abort.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, cancel);
  try {
    return await move(call, app, abort.signal);
  } catch (error) {
    throw refusalOf(error);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, cancel);
  }
}

async function move(call: CommandCall, app: string, signal: AbortSignal): Promise<ExitCode> {
  const here = environmentOf(call.cwd);
  const source = await openSource(call, here);
  const target = await openServer(call, here);
  if (source.url === target.url)
    throw new CommandError('SAME_SERVER', { message: '--from and --to are the same server' });
  const id = randomBytes(16).toString('hex');
  const [from, to] = [source, target].map((server) => cancellable(server, id, signal)) as [
    MoveServer,
    MoveServer,
  ];
  const plan = await from.check(app);
  await assertFree(target, app);
  await to.accept(plan);
  if (call.options['dry-run'] === true) return show(call, { app, source, target, plan });
  const { note } = call.terminal;
  const moved = await moveApp({ app, from, to, address: new URL(target.url).origin, note });
  return show(call, { app, source, target, plan, moved });
}

/** The calls that undo a move are made after the user has cancelled the others. */
function cancellable(server: HostingServer, id: string, signal: AbortSignal): MoveServer {
  const { cancelExport, cancelImport } = createMoveServer(server, id);
  return { ...createMoveServer(server, id, signal), cancelExport, cancelImport };
}

/** The token of one server is never sent to the other. */
async function openSource(
  call: CommandCall,
  here: ReturnType<typeof environmentOf>,
): Promise<HostingServer> {
  const options = { ...call.options, to: call.options['from'], token: call.options['from-token'] };
  const env = {
    ...here,
    DEPLOY_TOKEN: here['MOVE_FROM_TOKEN'],
    DEPLOY_PASSWORD: here['MOVE_FROM_PASSWORD'],
  };
  try {
    return await openServer({ ...call, options }, env);
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'NOT_SIGNED_IN') throw error;
    throw new CommandError(error.code, {
      message: error.message,
      fix: 'MOVE_FROM_TOKEN or MOVE_FROM_PASSWORD in the environment or in .env, or --from-token TOKEN',
      exit: error.exitCode,
    });
  }
}

/** @throws CommandError when the target has an app of this name. */
async function assertFree(target: HostingServer, app: string): Promise<void> {
  if (!(await target.app(app))) return;
  throw new CommandError('APP_EXISTS', {
    message: `${target.url} has an app ${app} already`,
    fix: 'delete it there first, if it is an old one',
  });
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof HostingRefusal)) return error;
  const code = error.status >= 500 ? EXIT.differs : EXIT.usage;
  return new CommandError('MOVE_FAILED', {
    message: `the move failed (${error.status}): ${error.message}`,
    fix: 'the app serves where it was',
    exit: code,
  });
}

interface Shown {
  readonly app: string;
  readonly source: HostingServer;
  readonly target: HostingServer;
  readonly plan: MovePlan;
  /** Absent when nothing was changed. */
  readonly moved?: { readonly bytes: number; readonly until: string };
}

function show({ terminal }: CommandCall, { app, source, target, plan, moved }: Shown): ExitCode {
  const { volumes, domains, image } = plan;
  const document = {
    ...{ ok: true, app, from: source.url, to: target.url, dry_run: moved === undefined },
    ...{ volumes, domains, image, ...moved },
  };
  if (terminal.json) terminal.document(document);
  else for (const line of linesOf(document)) terminal.note(line);
  return EXIT.done;
}

function linesOf({ app, from, to, volumes, domains, until }: any): string[] {
  const names = (volumes as MovePlan['volumes']).map(({ name }) => name).join(', ') || 'none';
  if (until === undefined)
    return [
      `${app} would move from ${from} to ${to}`,
      `volumes: ${names}; domains: ${domains.join(', ') || 'none'}`,
      'nothing was changed',
    ];
  return [
    `${app} runs at ${to}. ${from} passes its requests on until ${until}`,
    ...(domains.length > 0 ? [`point these names to the new server: ${domains.join(', ')}`] : []),
    `then delete the old copy, which is stopped: DELETE ${from}/api/apps/${app}?volumes=true`,
  ];
}
