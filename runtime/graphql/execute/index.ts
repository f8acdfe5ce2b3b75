import type { GraphQLError, GraphQLObjectType } from 'graphql';
import { Cancellation } from '../../context/cancellation.ts';
import type { PreparedOperation } from '../document-cache.ts';
import type { OperationPlan } from '../plan/operation.ts';
import type { Answer, Run } from '../run.ts';
import { compileFields } from './compile.ts';
import { Waiting } from './answer.ts';
import { createErrors, type Execution } from './execution.ts';
import type { ExecutableField, Fields } from './field.ts';
import { executeField, type Source } from './fields.ts';

/**
 * Runs an operation that has user code in it, over what plans have read. It answers what graphql-js answers, and is
 * several times as fast: selections are looked at once for a plan and not for every object, and what is at hand makes no
 * promise.
 */
export function executeRun(run: Run): Answer | Promise<Answer> {
  const compiled = compiledFor(run);
  const abort = lazyAbort(run);
  const execution: Execution = { run, fragments: compiled.fragments, errors: createErrors(), helpers: { getAbortSignal: abort.signal, getAsyncHelpers: () => HELPERS } };
  const finish = (data: string | null): Answer => {
    abort.end();
    const { list } = execution.errors;
    return list.length > 0 ? { result: { errors: list, data: data === null ? null : JSON.parse(data) } } : { text: `{"data":${data}}` };
  };
  const failed = (thrown: unknown) => {
    execution.errors.add(thrown as GraphQLError, undefined);
    return finish(null);
  };
  try {
    const data = run.operation.node.operation === 'mutation' ? executeSerially(execution, compiled.fields) : executeRoots(execution, compiled.fields);
    return data instanceof Promise ? data.then(finish, failed) : finish(data);
  } catch (thrown) {
    return failed(thrown);
  }
}

function executeRoots(execution: Execution, fields: Fields): string | Promise<string> {
  const texts: Record<string, unknown> = { __proto__: null };
  let waiting: Waiting | undefined;
  try {
    for (const field of fields) {
      const text = rootText(execution, field);
      if (text instanceof Promise) waiting = (waiting ?? new Waiting()).add(texts, field.key, text);
      else texts[field.key] = text;
    }
  } catch (thrown) {
    waiting?.abandon();
    throw thrown;
  }
  const whole = () => `{${fields.map(({ key, lead }) => `${lead}${texts[key]}`).join('')}}`;
  return waiting ? waiting.finish(texts).then(whole) : whole();
}

async function executeSerially(execution: Execution, fields: Fields): Promise<string> {
  let text = '{';
  for (const field of fields) text += field.lead + (await rootText(execution, field));
  return `${text}}`;
}

/** JSON of a root field; the text of one that is done already is the answer's own. */
function rootText(execution: Execution, field: ExecutableField): string | null | Promise<string> {
  const outcome = execution.run.outcomes.get(field.key);
  if (outcome && 'text' in outcome) return outcome.text;
  const value = executeField(execution, field, rootOf(execution));
  return value instanceof Promise ? value.then(jsonOf) : jsonOf(value);
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

const rootOf = ({ run }: Execution): Source => ({ value: run, object: undefined, tree: false, path: undefined });

interface Compiled {
  readonly fields: Fields;
  readonly fragments: Execution['fragments'];
}

/** Kept as long as the plan, which is made for each of the conditions that decide what is selected. */
const COMPILED = new WeakMap<OperationPlan, Compiled>();

function compiledFor({ engine, operation, plan, variables }: Run): Compiled {
  const known = COMPILED.get(plan);
  if (known) return known;
  const type = engine.schema.getRootType(operation.node.operation) as GraphQLObjectType;
  const conditions = Object.fromEntries(operation.conditions.map((name) => [name, variables.coerced[name]]));
  const selecting = { schema: engine.schema, fragments: operation.fragments, variables: conditions };
  const compiled = { fields: compileFields({ engine, selecting }, type, [operation.node]), fragments: fragmentsOf(operation) };
  COMPILED.set(plan, compiled);
  return compiled;
}

const fragmentsOf = ({ fragments }: PreparedOperation): Execution['fragments'] => Object.assign(Object.create(null), Object.fromEntries(fragments));

/** A signal costs more than a small resolver: it is made for the first one that asks. */
function lazyAbort({ context }: Run): { signal(): AbortSignal; end(): void } {
  let made: Cancellation | undefined;
  return { signal: () => (made ??= new Cancellation(context)).signal, end: () => made?.cancel() };
}

const HELPERS = {
  promiseAll: <T>(values: readonly T[]) => Promise.all(values),
  track: (values: readonly unknown[]) => values.forEach((value) => void Promise.resolve(value).catch(() => {})),
};
