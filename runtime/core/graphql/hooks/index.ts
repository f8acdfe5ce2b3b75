import type { ValidationRule } from 'graphql';
import type { GraphqlHooks, AfterEvent } from '../../plugin.ts';
import type { DocumentOptions } from '../document-cache.ts';
import type { Around, Leave, StartCompanion } from '../service.ts';
import { executeHooks, runAfter, runBefore, executeCallOf, callHook } from './execute.ts';
import type { RequestContext } from '../../context/request-context.ts';
import {
  type DocumentRules,
  parseDocument,
  type ReadDocument,
  validateDocument,
} from '../document.ts';
import { failedResponse, type ShownError, type Response } from '../response.ts';
import { HookedResult } from './result.ts';

/** The hooks of all plugins. A hook that no plugin has is undefined, so that it costs nothing. */
export interface ServiceHooks {
  readonly rules: readonly ValidationRule[];
  readonly read: DocumentOptions['read'];
  readonly around: Around | undefined;
  readonly accompany: StartCompanion | undefined;
  readonly leave: Leave | undefined;
}

/** @param plugins the hooks of each plugin, in the order of the plugins. */
export const createHooks = (plugins: readonly GraphqlHooks[]): ServiceHooks => ({
  rules: plugins.flatMap(({ validationRules = [] }) => validationRules),
  read: documentHooks(plugins),
  around: executeHooks(plugins),
  accompany: subscribeHooks(plugins),
  leave: formatHooks(plugins),
});

/** Reads a document with `onParse` and `onValidate`; undefined when no plugin has them. */
function documentHooks(plugins: readonly GraphqlHooks[]): DocumentOptions['read'] {
  const parse = plugins.flatMap(({ onParse }) => onParse ?? []);
  const validate = plugins.flatMap(({ onValidate }) => onValidate ?? []);
  if (parse.length === 0 && validate.length === 0) return undefined;
  return async (text, rules, ctx) => {
    const parsed = await hookedParse(parse, text, rules, ctx);
    if (!parsed.document) return parsed;
    const { document } = parsed;
    return hookedValidate(validate, { text, document, rules, ctx });
  };
}

async function hookedParse(
  hooks: readonly NonNullable<GraphqlHooks['onParse']>[],
  source: string,
  rules: DocumentRules,
  ctx: RequestContext,
): Promise<ReadDocument> {
  const after = await runBefore(hooks, { source, ctx });
  const parsed = parseDocument(source, rules);
  await runAfter(after, { document: parsed.document });
  return parsed;
}

interface Validated {
  readonly text: string;
  readonly document: NonNullable<ReadDocument['document']>;
  readonly rules: DocumentRules;
  readonly ctx: RequestContext;
}

async function hookedValidate(
  hooks: readonly NonNullable<GraphqlHooks['onValidate']>[],
  { text, document, rules, ctx }: Validated,
): Promise<ReadDocument> {
  const after = await runBefore(hooks, { document, ctx });
  const read = validateDocument(text, document, rules);
  await runAfter(after, { errors: read.errors ?? [] });
  return read;
}

type FormatError = NonNullable<GraphqlHooks['formatError']>;

/** Passes each error of an answer through `formatError`; undefined when no plugin has it. */
function formatHooks(plugins: readonly GraphqlHooks[]): Leave | undefined {
  const hooks = plugins.flatMap(({ formatError }) => formatError ?? []);
  if (hooks.length === 0) return undefined;
  return (response, context) => {
    const { failed, refused } = response;
    if (!failed || failed.errors.length === 0) return response;
    return Promise.all(failed.errors.map((shown) => formatted(hooks, shown, context))).then(
      (errors) => failedResponse({ ...failed, errors }, refused),
    );
  };
}

async function formatted(
  hooks: readonly FormatError[],
  shown: ShownError,
  ctx: RequestContext,
): Promise<ShownError> {
  let { formatted: current } = shown;
  const { error } = shown;
  try {
    for (const hook of hooks) current = await hook(current, { error, ctx });
    return { formatted: current, error };
  } catch (thrown) {
    const stack = thrown instanceof Error ? thrown.stack : String(thrown);
    ctx.log.error({ requestId: ctx.id, stack }, 'formatError of a plugin failed');
    return shown;
  }
}

/** Runs `onSubscribe` with each subscription; undefined when no plugin has it. */
function subscribeHooks(plugins: readonly GraphqlHooks[]): StartCompanion | undefined {
  const hooks = plugins.flatMap(({ onSubscribe }) => onSubscribe ?? []);
  if (hooks.length === 0) return undefined;
  return async (call) => {
    const { operationType: _, ...given } = executeCallOf(call);
    const after: AfterEvent[] = [];
    for (const hook of hooks) {
      const returned = await callHook(() => hook(given));
      if (returned) after.unshift(returned);
    }
    return {
      event: async (answer, context) => {
        const response = await answer();
        return response && throughAll(after, new HookedResult(response, context));
      },
    };
  };
}

/** The event after all functions; undefined when one of them drops it. */
async function throughAll(
  after: readonly AfterEvent[],
  done: HookedResult,
): Promise<Response | undefined> {
  for (const each of after) {
    const hooked = {
      get event() {
        return done.result;
      },
    };
    const event = await callHook(() => each(hooked));
    if (event === null || event === undefined) return undefined;
    if (event !== done.result) done.result = event;
  }
  return done.response;
}
