import { parseExact } from '../data/sql/exact-json.ts';
import type { ExecutionResult, GraphQLResolveInfo, VariableValues } from 'graphql';
import { createRules, refusal, type Rules } from '../data/access/access.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { PreparedOperation } from './document-cache.ts';
import { isOwn, type Engine } from './engine.ts';
import { errorCases } from './error-members.ts';
import { executeRun } from './execute/index.ts';
import { performWrite } from './mutation.ts';
import { createFieldBudget } from './plan/collect.ts';
import { planOperation, type OperationPlan, type RootPlan } from './plan/operation.ts';
import type { Planning } from './plan/planning.ts';
import { joinTexts, type JsonText } from '../store/large-text.ts';
import type { Query } from '../store/store.ts';
import { checkCost } from '@twofold/schema';
import { type Answer, type Cut, type Outcome, readPlan, type Run } from './operation-run.ts';
import { type Over, withTimeLimit } from './time-limit.ts';
import { withoutMarked, withTypes } from './typed-tree.ts';
import { readVariables } from './variables.ts';

type ReadRoot = Extract<RootPlan, { kind: 'read' }>;
type WriteRoot = Extract<RootPlan, { kind: 'write' }>;

export interface OperationRequest {
  readonly operation: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  readonly event?: unknown;
  /** See `Run`. */
  readonly nested?: number | undefined;
  /** Whether `variables` have been coerced. */
  readonly coerced?: boolean;
  /** The query function of the transaction that the operation belongs to. */
  readonly query?: Query;
  /** Takes the lists of the answer that are cut. */
  readonly cuts?: Cut[];
}

/**
 * Runs an operation within what it may cost and how long it may take, by whichever door it came.
 *
 * @returns the limit that it reached instead of an answer.
 */
export function run(engine: Engine, request: OperationRequest): Limited | Promise<Limited> {
  const { operation, variables, context } = request;
  const cost = checkCost(engine, operation, variables);
  if ('over' in cost) return cost;
  const answer = runOperation(engine, { ...request, nested: cost.nested });
  return answer instanceof Promise && !request.query
    ? withTimeLimit(engine, answer, context)
    : answer;
}

type Limited = Answer | Over;

/**
 * Runs an operation. A root field that is an action takes one statement, whose JSON becomes a part
 * of the answer. When user code, an error or a null in a required field is involved, the executor
 * assembles the answer from the same rows, so that it equals the answer of graphql-js.
 */
export function runOperation(engine: Engine, request: OperationRequest): Answer | Promise<Answer> {
  const started = startRun(engine, request);
  if ('errors' in started) return { result: { errors: started.errors } };
  if (!started.plan.pure) return executeRun(started);
  return request.operation.node.operation === 'mutation'
    ? answerWrite(started)
    : answerRead(started, []);
}

/**
 * One of several mutations may fail after another was done. The executor then reports both results.
 */
function answerWrite(run: Run): Answer | Promise<Answer> {
  const [root] = run.plan.roots;
  if (root?.kind !== 'write' || run.plan.roots.length > 1) return executeRun(run);
  const outcome = write(run, root);
  const finish = (done: Outcome): Answer | Promise<Answer> => {
    const lacks = 'text' in done && done.text === null && root.operation.type.required;
    if ('text' in done && !lacks) return { text: dataOf([root], [done.text]) };
    run.outcomes.set(root.key, lacks ? { tree: null } : done);
    return executeRun(run);
  };
  return outcome instanceof Promise ? outcome.then(finish) : finish(outcome);
}

function write(run: Run, root: WriteRoot): Outcome | Promise<Outcome> {
  try {
    const outcome = performWrite(run, root, false);
    return outcome instanceof Promise ? outcome.catch((error: unknown) => ({ error })) : outcome;
  } catch (error) {
    return { error };
  }
}

/**
 * Runs one root after another. Without promises where the database answers synchronously, because
 * they would be most of the cost of a small query.
 */
function answerRead(
  run: Run,
  texts: (JsonText | null)[],
  late?: Outcome,
): Answer | Promise<Answer> {
  const { roots } = run.plan;
  let known = late;
  for (const root of roots.slice(texts.length)) {
    const outcome = known ?? readNow(run, root);
    known = undefined;
    if (outcome instanceof Promise) return outcome.then((read) => answerRead(run, texts, read));
    if (!('text' in outcome)) {
      run.outcomes.set(root.key, outcome);
      return executeFromTexts(run, texts);
    }
    texts.push(outcome.text);
  }
  return { text: dataOf(roots, texts) };
}

function readNow(run: Run, root: RootPlan): Outcome | Promise<Outcome> {
  if (root.kind === 'typename') return { text: JSON.stringify(root.value) };
  if (root.kind !== 'read') return settle(run, root, false);
  try {
    const text = readRoot(run, root, false);
    return text instanceof Promise
      ? text.then((late) => outcomeOfText(run, root, late)).catch((error: unknown) => ({ error }))
      : outcomeOfText(run, root, text);
  } catch (error) {
    return { error };
  }
}

function dataOf(roots: readonly RootPlan[], texts: readonly (JsonText | null)[]): JsonText {
  let data: JsonText = '{"data":{';
  for (const [index, { lead }] of roots.entries()) {
    const text = texts[index] ?? 'null';
    // Concatenates instead of joining: a string is then copied only once, when it is sent.
    if (typeof data === 'string' && typeof text === 'string') data += lead + text;
    else data = joinTexts([data, lead, text]);
  }
  return typeof data === 'string' ? `${data}}}` : joinTexts([data, '}}']);
}

/** Lets the executor assemble the answer from the data that was read; nothing is read twice. */
function executeFromTexts(run: Run, texts: readonly (JsonText | null)[]): Answer | Promise<Answer> {
  texts.forEach((text, index) => {
    const { key } = run.plan.roots[index] as RootPlan;
    run.outcomes.set(key, { text });
  });
  return executeRun(run);
}

/** @returns the run, or the errors of the variables. */
export function startRun(
  engine: Engine,
  request: OperationRequest,
): Run | { errors: NonNullable<ExecutionResult['errors']> } {
  const { operation, variables, coerced: isCoerced = false } = request;
  const { node } = operation;
  const { schema, model } = engine;
  const { constraints } = model.project;
  const coerced = isCoerced
    ? { variableValues: { sources: {}, coerced: variables } as VariableValues }
    : readVariables({ schema, constraints }, node, variables);
  if (coerced.errors) return { errors: coerced.errors };
  return new Started(engine, request, coerced.variableValues);
}

/** A run is made for every request, so members that few requests use are made on first use. */
class Started implements Run {
  readonly engine: Engine;
  readonly context: RequestContext;
  readonly rules: Rules;
  readonly operation: PreparedOperation;
  readonly plan: OperationPlan;
  readonly variables: VariableValues;
  readonly event?: unknown;
  readonly nested: number | undefined;
  readonly query: Query | undefined;
  readonly cuts: Cut[];
  #planning: Planning | undefined;
  #batches: Run['batches'] | undefined;
  #outcomes: Run['outcomes'] | undefined;
  #askable: Run['askable'] | undefined;

  constructor(engine: Engine, request: OperationRequest, variables: VariableValues) {
    this.engine = engine;
    this.context = request.context;
    this.operation = request.operation;
    this.variables = variables;
    this.event = request.event;
    this.nested = request.nested;
    this.query = request.query;
    this.cuts = request.cuts ?? [];
    this.rules = rulesFor(engine, request.context);
    this.plan = planned(this);
  }

  get planning(): Planning {
    return (this.#planning ??= planningFor(
      this.engine,
      this.operation,
      this.variables,
      this.rules,
    ));
  }

  get outcomes(): Run['outcomes'] {
    return (this.#outcomes ??= new Map());
  }

  get batches(): Run['batches'] {
    return (this.#batches ??= new Map());
  }

  get askable(): Run['askable'] {
    return (this.#askable ??= new Map());
  }
}

const RULES = new WeakMap<Engine, WeakMap<RequestContext['principal'], Rules>>();

/** Makes a caller's rules once for each request, and those of anonymous callers only once. */
function rulesFor(engine: Engine, { principal }: RequestContext): Rules {
  const known = RULES.get(engine)?.get(principal);
  if (known) return known;
  const made = createRules(engine.model, principal);
  const rules = RULES.get(engine) ?? new WeakMap();
  RULES.set(engine, rules.set(principal, made));
  return made;
}

function planned(run: Started): OperationPlan {
  const { engine, operation, variables, rules } = run;
  const key =
    operation.conditions.length === 0
      ? rules.callerClass
      : `${rules.callerClass} ${operation.conditions.map((name) => variables.coerced[name] === true).join()}`;
  const known = operation.plans.get(key) as OperationPlan | undefined;
  if (known) return known;
  const { node } = operation;
  const plan = planOperation(
    run.planning,
    node.operation,
    engine.schema.getRootType(node.operation)?.name ?? '',
    node,
  );
  operation.plans.set(key, plan);
  return plan;
}

function planningFor(
  engine: Engine,
  { fragments }: PreparedOperation,
  variables: VariableValues,
  rules: Rules,
): Planning {
  return {
    model: engine.model,
    rules,
    selecting: {
      schema: engine.schema,
      fragments,
      variables: variables.coerced,
      budget: createFieldBudget(),
    },
    isCustom: (type, field) => isOwn(engine, type, field),
    isPlain: engine.isPlain,
    casesOf: (operation) => errorCases(engine, operation),
  };
}

/**
 * Returns a text that goes into the answer unchanged. A text with a marker, or a null in a required
 * field, goes to the executor, unless the answer may lack what is marked.
 */
function outcomeOfText(
  { engine: { mayLack, reader } }: Run,
  { required, plan }: ReadRoot,
  text: JsonText | null,
): Outcome {
  if (text === null) return required ? { tree: null } : { text };
  if (!plan.marks || !text.includes(reader.marker)) return { text };
  const read: unknown = parseExact(String(text));
  return mayLack
    ? { text: JSON.stringify(withoutMarked(read, reader.marker)) }
    : { tree: withTypes(plan.node, read, reader.marker) };
}

/** The result of one root of a plan. */
export async function settle(run: Run, root: RootPlan, tree: boolean): Promise<Outcome> {
  try {
    if (root.kind === 'refused') return refuse(run, root);
    if (root.kind === 'write') return await performWrite(run, root, tree);
    if (root.kind !== 'read') return { tree: null };
    const text = await readRoot(run, root, tree);
    return tree ? { tree: parsed(text) } : outcomeOfText(run, root, text);
  } catch (error) {
    return { error };
  }
}

/** A caller without a sign-in has no row of their own, which is no error in a nullable field. */
function refuse({ rules }: Run, { code, caller }: Extract<RootPlan, { kind: 'refused' }>): Outcome {
  if (rules.caller !== null || !caller) throw refusal(code);
  if (caller.required) throw refusal('UNAUTHENTICATED');
  return { tree: null };
}

function readRoot(
  run: Run,
  root: ReadRoot,
  tree: boolean,
): JsonText | null | Promise<JsonText | null> {
  const { plan, caller, key } = root;
  const { rules } = run;
  if (caller?.required && rules.caller === null) throw refusal('UNAUTHENTICATED');
  if (caller && rules.caller === null) return null;
  const own = caller && String(rules.caller);
  return readPlan(run, plan, { key: own, above: [key], tree, large: !tree });
}

/** The result of a root's action, for the executor. */
export function resolveRoot(run: Run, info: GraphQLResolveInfo): unknown {
  const key = String(info.path.key);
  const { shared } = run;
  if (!shared) return answerRoot(run, key);
  if (!shared.has(key)) shared.set(key, answerRoot(run, key));
  return shared.get(key);
}

function answerRoot(run: Run, key: string): unknown {
  const root = run.plan.roots.find((candidate) => candidate.key === key);
  if (!root) return null;
  const known = run.outcomes.get(key);
  if (known) return valueOf(known);
  if (root.kind === 'read') return readTree(run, root);
  return settle(run, root, true).then((outcome) => {
    run.outcomes.set(key, outcome);
    return valueOf(outcome);
  });
}

function readTree(run: Run, root: ReadRoot): unknown {
  const text = readRoot(run, root, true);
  return text instanceof Promise ? text.then(parsed) : parsed(text);
}

const parsed = (text: JsonText | null): unknown =>
  text === null ? null : parseExact(String(text));

/** @throws the error of a failed outcome. */
export function valueOf(outcome: Outcome): unknown {
  if ('error' in outcome) throw outcome.error;
  return 'tree' in outcome ? outcome.tree : parsed(outcome.text);
}
