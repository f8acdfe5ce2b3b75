import { parseExact } from '../../data/sql/exact-json.ts';
import {
  type FieldNode,
  type GraphQLError,
  type GraphQLObjectType,
  locatedError,
  responsePathAsArray,
} from 'graphql';
import type { JsonText } from '../../store/large-text.ts';
import { Cancellation } from '../../context/cancellation.ts';
import { argumentValues } from '../argument-values.ts';
import type { PreparedOperation } from '../document-cache.ts';
import { WrongResult } from '../errors.ts';
import type { OperationPlan } from '../plan/operation.ts';
import type { Answer, Run } from '../operation-run.ts';
import { compileFields } from './compile.ts';
import { EmptyAnswer, Waiting, createErrors, type Execution } from './execution.ts';
import { resolveInfo, type ExecutableField, type Fields, assertNoError } from './field.ts';
import { executeField } from './fields.ts';

/**
 * Runs an operation that includes user code, over the data that plans have read. The answer is the
 * one that graphql-js gives, several times as fast: selections are compiled once for each plan
 * instead of for each object, and values that are already there make no promise.
 */
export function executeRun(run: Run): Answer | Promise<Answer> {
  const compiled = compiledFor(run);
  const abort = lazyAbort(run);
  const execution = startExecution(run, compiled, abort);
  const { list } = execution.errors;
  const finish = (roots: Roots): Answer => {
    abort.end();
    return list.length > 0
      ? { result: { errors: list, data: valuesOf(roots) } }
      : { text: textOf(compiled.fields, roots) };
  };
  const failed = (thrown: unknown): Answer => {
    abort.end();
    execution.errors.add(thrown as GraphQLError, undefined);
    return { result: { errors: list, data: null } };
  };
  try {
    const roots =
      run.operation.node.operation === 'mutation'
        ? executeSerially(execution, compiled.fields)
        : executeRoots(execution, compiled.fields);
    return roots instanceof Promise ? roots.then(finish).catch(failed) : finish(roots);
  } catch (thrown) {
    return failed(thrown);
  }
}

/**
 * Calls the user's `subscribe` function for the root field of a subscription; `executeRun` then
 * runs each event.
 *
 * @throws GraphQLError located at the field, when the function throws or returns no async iterable.
 */
export async function openSource(run: Run): Promise<AsyncIterator<unknown>> {
  const compiled = compiledFor(run);
  const [field] = compiled.fields as readonly [ExecutableField];
  const execution = startExecution(run, compiled, lazyAbort(run));
  const path = { prev: undefined, key: field.key, typename: field.parent.name };
  try {
    const source = await field.definition.subscribe?.(
      run,
      argumentValues(field.definition, field.nodes[0] as FieldNode, run.variables),
      run.context,
      resolveInfo(execution, field, path),
    );
    return iteratorOf(field, assertNoError(source));
  } catch (thrown) {
    throw locatedError(thrown, field.nodes, responsePathAsArray(path));
  }
}

function iteratorOf({ parent, name }: ExecutableField, source: unknown): AsyncIterator<unknown> {
  if (typeof source !== 'object' || source === null || !(Symbol.asyncIterator in source))
    throw new WrongResult(`${parent.name}.${name}`, 'an async iterable was expected');
  return (source as AsyncIterable<unknown>)[Symbol.asyncIterator]();
}

const startExecution = (run: Run, { fragments }: Compiled, abort: LazyAbort): Execution => ({
  run,
  fragments,
  errors: createErrors(),
  helpers: { getAbortSignal: abort.signal, getAsyncHelpers: () => HELPERS },
});

/** The values of the root fields. */
type Roots = Readonly<Record<string, unknown>>;

function executeRoots(execution: Execution, fields: Fields): Roots | Promise<Roots> {
  const roots = new EmptyAnswer();
  let waiting: Waiting | undefined;
  try {
    for (const field of fields) {
      const value = executeRoot(execution, field);
      const isLate = value instanceof Promise;
      roots[field.key] = isLate ? null : value;
      if (isLate) waiting = (waiting ?? new Waiting()).add(field.key, value);
    }
  } catch (thrown) {
    waiting?.abandon();
    throw thrown;
  }
  return waiting ? waiting.finish(roots) : roots;
}

async function executeSerially(execution: Execution, fields: Fields): Promise<Roots> {
  const roots = new EmptyAnswer();
  for (const field of fields) roots[field.key] = await executeRoot(execution, field);
  return roots;
}

function executeRoot(execution: Execution, field: ExecutableField): unknown {
  const outcome = execution.run.outcomes.get(field.key);
  return outcome && 'text' in outcome
    ? new Finished(outcome.text)
    : executeField(execution, field, execution.run, undefined);
}

/** A root field whose JSON text goes into the answer unchanged. */
class Finished {
  readonly text: JsonText | null;

  constructor(text: JsonText | null) {
    this.text = text;
  }
}

/** Serialises the whole answer, as one flat text: V8 need not flatten it to measure and send it. */
function textOf(fields: Fields, roots: Roots): string {
  if (!fields.some(({ key }) => roots[key] instanceof Finished))
    return JSON.stringify({ data: roots });
  const members = fields.map(({ key, lead }) => {
    const value = roots[key];
    return `${lead}${value instanceof Finished ? value.text : JSON.stringify(value)}`;
  });
  return `{"data":{${members.join('')}}}`;
}

function valuesOf(roots: Roots): Roots {
  const values = new EmptyAnswer();
  for (const [key, value] of Object.entries(roots))
    values[key] = value instanceof Finished ? parseExact(String(value.text)) : value;
  return values;
}

interface Compiled {
  readonly fields: Fields;
  readonly fragments: Execution['fragments'];
}

/**
 * Kept as long as the plan, of which there is one for each combination of `@skip` and `@include`
 * values.
 */
const COMPILED = new WeakMap<OperationPlan, Compiled>();

function compiledFor({ engine, operation, plan, variables }: Run): Compiled {
  const known = COMPILED.get(plan);
  if (known) return known;
  const type = engine.schema.getRootType(operation.node.operation) as GraphQLObjectType;
  const conditions = Object.fromEntries(
    operation.conditions.map((name) => [name, variables.coerced[name]]),
  );
  const selecting = {
    schema: engine.schema,
    fragments: operation.fragments,
    variables: conditions,
  };
  const compiled = {
    fields: compileFields({ engine, selecting }, type, [operation.node]),
    fragments: fragmentsOf(operation),
  };
  COMPILED.set(plan, compiled);
  return compiled;
}

const fragmentsOf = ({ fragments }: PreparedOperation): Execution['fragments'] =>
  Object.assign(Object.create(null), Object.fromEntries(fragments));

interface LazyAbort {
  signal(): AbortSignal;
  end(): void;
}

/** A signal costs more than a small resolver, so it is made when a resolver first uses it. */
function lazyAbort({ context }: Run): LazyAbort {
  let made: Cancellation | undefined;
  return { signal: () => (made ??= new Cancellation(context)).signal, end: () => made?.cancel() };
}

const HELPERS = {
  promiseAll: <T>(values: readonly T[]) => Promise.all(values),
  track: (values: readonly unknown[]) =>
    values.forEach((value) => void Promise.resolve(value).catch(() => {})),
};
