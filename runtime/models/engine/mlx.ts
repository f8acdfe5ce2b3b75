import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from '@twofold/runtime/kernel';
import { request } from 'undici';
import { AppError } from '@twofold/runtime/errors';
import { type Child, programBeside, quietEnvironment, startChild, startFailure } from './child.ts';
import type { OneEngine } from './engine.ts';
import { createHttpEndpoint, type HttpEndpoint } from './http-endpoint.ts';

export interface MlxOptions {
  /** Environment whose `PATH` is searched for `mlx_lm.server` and `python3`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Milliseconds within which a model must answer after its start. */
  readonly patience: number;
}

/** A command, with the arguments that precede ours. */
type Command = readonly [file: string, ...before: string[]];

const IMPORT_TIMEOUT = 20_000;
const POLL_INTERVAL = 150;
/** `mlx_lm.server` loads any model that a request names. This name means the model of its start. */
const STARTED_WITH = 'default_model';

/**
 * Runs `mlx_lm.server` on loopback, one process for each model. Its documentation says that it is
 * not meant for a network, so only this server connects to it.
 */
export function createMlxEngine({ env, log, patience }: MlxOptions): OneEngine {
  let child: Child | undefined;
  let running: { readonly port: number; readonly endpoint: HttpEndpoint } | undefined;
  const stop = async () => {
    const [leaving, left] = [child, running];
    [child, running] = [undefined, undefined];
    await left?.endpoint.close();
    await leaving?.stop();
  };
  return {
    name: 'mlx',
    formats: ['mlx'],
    eligible: async () =>
      (await findCommand(env))
        ? null
        : 'mlx_lm.server is not installed: pip install mlx-lm (macOS on Apple silicon, or Linux with mlx[cpu] or mlx[cuda])',
    async start(model, { signal, onExit }) {
      await stop();
      const command = await findCommand(env);
      if (!command)
        throw new AppError(503, 'UNAVAILABLE', 'mlx_lm.server is gone: install it again');
      const port = await freePort();
      const [file, ...before] = command;
      const order = {
        file,
        args: [...before, '--model', model.path, '--host', '127.0.0.1', '--port', String(port)],
      };
      // The model is complete on the disk, so the libraries must not download anything.
      const quiet = { ...quietEnvironment(env), HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1' };
      const mine = startChild({
        program: programBeside(import.meta.url, 'child-supervisor'),
        order,
        env: quiet,
        log,
      });
      child = mine;
      try {
        await untilHealthy(port, mine, AbortSignal.any([signal, AbortSignal.timeout(patience)]));
      } catch (error) {
        await mine.stop();
        throw startFailure(error, signal, { id: model.id, patience });
      }
      const endpoint = createHttpEndpoint({
        url: `http://127.0.0.1:${port}/v1`,
        headers: {},
        model: STARTED_WITH,
      });
      running = { port, endpoint };
      void mine.exited.then((reason) => child === mine && onExit(reason));
      return endpoint;
    },
    stop,
    health: async () => running !== undefined && isHealthy(running.port),
  };
}

async function findCommand(env: MlxOptions['env']): Promise<Command | null> {
  const server = await onPath('mlx_lm.server', env);
  if (server !== null) return [server];
  const python = await onPath('python3', env);
  if (python === null) return null;
  const found = await promisify(execFile)(python, ['-c', 'import mlx_lm.server'], {
    timeout: IMPORT_TIMEOUT,
    env: quietEnvironment(env),
  }).then(
    () => true,
    () => false,
  );
  return found ? [python, '-m', 'mlx_lm.server'] : null;
}

async function onPath(name: string, { PATH = '' }: MlxOptions['env']): Promise<string | null> {
  for (const folder of PATH.split(delimiter).filter(Boolean)) {
    const file = join(folder, name);
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return null;
}

/** A port that is free now. If another program takes it first, the start fails. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise<unknown>((resolve) => server.close(resolve));
  return port;
}

async function untilHealthy(port: number, child: Child, signal: AbortSignal): Promise<void> {
  let ended: string | undefined;
  void child.exited.then((reason) => (ended = reason));
  while (!(await isHealthy(port))) {
    if (ended !== undefined) throw new AppError(502, 'MODEL_FAILED', ended);
    signal.throwIfAborted();
    await sleep(POLL_INTERVAL, undefined, { signal });
  }
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/health`, {
      headersTimeout: 2000,
      bodyTimeout: 2000,
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
