import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Logger } from '@twofold/runtime/kernel';
import { createChannel } from './channel.ts';
import {
  type Child,
  ChildExit,
  programBeside,
  quietEnvironment,
  startChild,
  startFailure,
} from './child.ts';
import type { Endpoint, OneEngine } from './engine.ts';
import type { LocalModel } from '../model.ts';
import type { LlamaStarted } from '../llamacpp/messages.ts';

export interface LlamaOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  readonly patience: number;
  /** The project's folder, in which `node-llama-cpp` may be installed. */
  readonly root: string;
  /** Maximum tokens of a conversation, even if the model supports more. */
  readonly context: number;
  /** Number of prompts that are processed at the same time. */
  readonly parallel: number;
}

/** Milliseconds within which a healthy model answers a health request. */
const HEALTH_TIMEOUT = 2000;
const NOT_INSTALLED = 'node-llama-cpp is not installed: npm install node-llama-cpp@3.21.1';

/** Runs llama.cpp in a separate process, so that its crash does not end the server. */
export function createLlamaEngine({
  env,
  log,
  patience,
  root,
  context,
  parallel,
}: LlamaOptions): OneEngine {
  let child: Child | undefined;
  let ask: Endpoint['ask'] | undefined;
  const stop = async () => {
    const leaving = child;
    [child, ask] = [undefined, undefined];
    await leaving?.stop();
  };
  return {
    name: 'llamacpp',
    formats: ['gguf'],
    eligible: async () => ineligibleReason(root),
    async start(model, { signal, onExit }) {
      await stop();
      const mine = startChild({
        program: programBeside(import.meta.url, '../llamacpp/program'),
        order: { ...orderOf(model, root), context, parallel },
        env: quietEnvironment(env),
        log,
      });
      child = mine;
      const layers = await layersOf(
        mine,
        AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      ).catch(async (error: unknown) => {
        await mine.stop();
        throw startFailure(error, signal, { id: model.id, patience });
      });
      void mine.exited.then((reason) => child === mine && onExit(reason));
      ask = createChannel(mine);
      return { model: model.id, ask, layersOnGpu: layers };
    },
    stop,
    // The program does not know this path, but any response shows that it works.
    health: async () =>
      (await ask?.({
        method: 'GET',
        path: 'health',
        body: null,
        accept: '*/*',
        signal: AbortSignal.timeout(HEALTH_TIMEOUT),
      }).catch(() => undefined)) !== undefined,
  };
}

const orderOf = ({ path, id }: LocalModel, root: string) => ({
  library: libraryOf(root) ?? '',
  path,
  id,
  threads: Math.max(1, availableParallelism() - 1),
});

/** Waits until the model is loaded. @returns its layers on graphics cards */
async function layersOf(child: Child, signal: AbortSignal): Promise<number> {
  const started = await within(child.message<LlamaStarted>(), signal);
  if ('problem' in started) throw new ChildExit(started.problem);
  return started.layers;
}

function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {});
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });
}

/** The file to load, from the `package.json` of the library. */
function libraryOf(root: string): string | null {
  const found =
    packageOf('node-llama-cpp', import.meta.url) ??
    packageOf('node-llama-cpp', pathToFileURL(join(root, 'package.json')).href);
  if (found === null) return null;
  const { main = 'dist/index.js' } = JSON.parse(readFileSync(found, 'utf8')) as { main?: string };
  return pathToFileURL(join(dirname(found), main)).href;
}

/** Checks, without loading native code, whether the package for this machine is installed. */
function ineligibleReason(root: string): string | null {
  const library = libraryOf(root);
  if (library === null) return NOT_INSTALLED;
  const system = { darwin: 'mac', win32: 'win' }[process.platform as string] ?? process.platform;
  const kinds = ['', '-metal', '-cuda', '-vulkan'].map(
    (kind) => `@node-llama-cpp/${system}-${process.arch}${kind}`,
  );
  if (kinds.some((name) => packageOf(name, library) !== null)) return null;
  return (
    `node-llama-cpp has no binary for ${process.platform} on ${process.arch} here: ` +
    `npm install ${kinds[system === 'mac' && process.arch === 'arm64' ? 1 : 0]}@3.21.1`
  );
}

function packageOf(name: string, from: string): string | null {
  try {
    return findPackageJSON(name, from) ?? null;
  } catch {
    return null;
  }
}
