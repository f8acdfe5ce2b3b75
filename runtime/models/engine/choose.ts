import type { Logger, Settings } from '@twofold/runtime/kernel';
import type { ModelEngine, OneEngine } from './engine.ts';
import { createAttachedEngine } from './openai.ts';
import { createLlamaEngine } from './llamacpp.ts';
import { createMlxEngine } from './mlx.ts';

/** The engines to use, or the reason why there is none. */
export interface Choice {
  /** The first of `engines`. */
  readonly engine: ModelEngine | null;
  /** Several only where the manifest lists several. */
  readonly engines: readonly ModelEngine[];
  readonly reason: string | null;
}

/** Finds the engine to use. */
export type Chooser = () => Promise<Choice>;

export interface ChooserOptions {
  /** `hosting.models.engine`: `auto`, `mlx`, `llamacpp`, `openai`, or the address of a server. */
  readonly wanted: string | readonly string[];
  readonly settings: Settings;
  readonly log: Logger;
  readonly root: string;
  /** `contextOf` the settings. */
  readonly context: number;
  readonly now: () => number;
}

/** Milliseconds within which a model must be loaded. */
const LOAD_TIMEOUT = 5 * 60_000;
/** Milliseconds for which a choice is cached, because installed engines seldom change. */
const CACHE_TIME = 30_000;
const ENGINE_NAMES = ['auto', 'mlx', 'llamacpp', 'openai'];

/**
 * Finds the engine to use. Invalid settings are reported to `settings`. With `auto` it takes the
 * first engine that can run on this machine: MLX, then llama.cpp, then a server to attach to.
 */
export function createChooser({ wanted, now, ...options }: ChooserOptions): Chooser {
  const engines = enginesOf(wanted, options);
  let known: { readonly until: number; readonly choice: Promise<Choice> } | undefined;
  return () => {
    if (!known || known.until < now())
      known = { until: now() + CACHE_TIME, choice: choose(engines, Array.isArray(wanted)) };
    const { choice } = known;
    // A negative result is not cached: an engine may have been installed in the meantime.
    void choice.then(({ engine }) => engine === null && (known = undefined));
    return choice;
  };
}

/** The most tokens of a conversation. A wrong setting is reported each time that this is called. */
export const contextOf = (settings: Settings): number =>
  settings.number('MODELS_CONTEXT', { default: 8192, min: 256, max: 1_048_576 });

async function choose(engines: readonly ModelEngine[], several: boolean): Promise<Choice> {
  const reasons: string[] = [];
  const eligible: ModelEngine[] = [];
  for (const engine of engines) {
    const reason = await engine.eligible();
    if (reason === null) eligible.push(engine);
    else reasons.push(reason);
    if (reason === null && !several) break;
  }
  const [engine = null] = eligible;
  return { engine, engines: eligible, reason: engine ? null : reasons.join('; ') };
}

type EngineOptions = Omit<ChooserOptions, 'now' | 'wanted'>;

function enginesOf(wanted: ChooserOptions['wanted'], options: EngineOptions): ModelEngine[] {
  const parallel = options.settings.number('MODELS_PARALLEL', { default: 2, min: 1, max: 64 });
  return [wanted].flat().flatMap((each) => enginesFor(each, { ...options, parallel }));
}

function enginesFor(
  wanted: string,
  { settings, log, root, context, parallel }: EngineOptions & { readonly parallel: number },
): ModelEngine[] {
  const { env } = settings;
  const address = /^https?:\/\//.test(wanted) ? wanted : settings.text('OPENAI_BASE_URL');
  const kind = /^https?:\/\//.test(wanted) ? 'openai' : wanted;
  if (!ENGINE_NAMES.includes(kind))
    settings.problem(
      `hosting.models.engine must be ${ENGINE_NAMES.join(', ')} or the address of a model server`,
    );
  if (address !== undefined && !URL.canParse(address))
    settings.problem('OPENAI_BASE_URL must be an address such as http://127.0.0.1:11434/v1');
  const url = address !== undefined && URL.canParse(address) ? address.replace(/\/+$/, '') : null;
  const key = settings.text('OPENAI_API_KEY');
  const all = [
    again(() => createMlxEngine({ env, log, patience: LOAD_TIMEOUT })),
    again(() => createLlamaEngine({ env, log, root, context, parallel, patience: LOAD_TIMEOUT })),
    again(() => createAttachedEngine({ url, key })),
  ];
  // Without an address the `openai` engine is left out, so that `auto` does not mention it.
  return all.filter(({ name }) =>
    kind === 'auto' ? name !== 'openai' || address !== undefined : name === kind,
  );
}

const again = (create: () => OneEngine): ModelEngine => ({ ...create(), another: create });
