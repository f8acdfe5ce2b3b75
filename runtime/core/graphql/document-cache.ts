import type {
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLError,
  OperationDefinitionNode,
} from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import {
  type DocumentRules,
  fragmentsOf,
  operationsOf,
  type ReadDocument,
  readDocument,
  variablesThatDecide,
} from './document.ts';
import { createMeasure } from '@twofold/schema';

/** A document that was parsed, validated, and whose size and cost were computed. */
export interface Prepared {
  readonly document: DocumentNode;
  readonly operations: readonly PreparedOperation[];
}

export interface PreparedOperation {
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /**
   * Variables that `@skip` and `@include` use: each combination of their values has its own plan.
   */
  readonly conditions: readonly string[];
  readonly plans: PlanCache;
}

export type Lookup =
  | { readonly prepared: Prepared; readonly errors?: never }
  | { readonly errors: readonly GraphQLError[]; readonly prepared?: never };

export interface DocumentCache {
  get(text: string): Lookup;
  /** A promise when plugins look at the parsing of a document that is not cached. */
  get(text: string, context: RequestContext): Lookup | Promise<Lookup>;
  /** Cached documents, and the estimated bytes of them and their plans; for tests and metrics. */
  readonly size: number;
  readonly held: number;
}

export interface DocumentOptions extends DocumentRules {
  /** The most documents that are cached, and the most bytes of them and their plans. */
  readonly entries?: number;
  readonly bytes?: number;
  /** Reads a document with the hooks of plugins; absent without any. */
  readonly read?: (
    text: string,
    rules: DocumentRules,
    context: RequestContext,
  ) => Promise<ReadDocument>;
}

/**
 * Estimated bytes of a document, measured with `--expose-gc`: its syntax tree for each token, and
 * its compiled fields for each plan.
 */
const WEIGHTS = { document: 2_000, token: 400, plan: 6_000, field: 900, error: 1_000 };

/**
 * Refused documents have a cache of their own: a client that sends invalid documents must not evict
 * those in use.
 */
const REFUSALS = { entries: 200, bytes: 4_000_000 };

/**
 * Validation takes 150 µs for a one-line document, more than running it. So each document is
 * validated once, and refusals are cached as well.
 */
export function createDocumentCache(options: DocumentOptions): DocumentCache {
  const { entries = 1000, bytes = 64_000_000 } = options;
  const kept = createBoundedCache<Prepared>({ entries, bytes });
  const refused = createBoundedCache<readonly GraphQLError[]>(REFUSALS);
  const keep = (text: string, { document, errors }: ReadDocument): Lookup => {
    if (!document) {
      refused.set(text, errors, weightOfErrors(text, errors));
      return { errors };
    }
    const prepared: Prepared = prepareOperations(document, (more) =>
      kept.grow(text, prepared, more),
    );
    kept.set(text, prepared, weightOf(text, document));
    return { prepared };
  };
  const known = (text: string): Lookup | undefined => {
    const prepared = kept.get(text);
    if (prepared) return { prepared };
    const errors = refused.get(text);
    return errors && { errors };
  };
  const { read } = options;
  const readOnce = read && once((text, context) => read(text, options, context));
  const get = (text: string, context?: RequestContext) =>
    known(text) ??
    (readOnce && context
      ? readOnce(text, context).then((done) => known(text) ?? keep(text, done))
      : keep(text, readDocument(text, options)));
  return {
    get size() {
      return kept.size;
    },
    get held() {
      return kept.held;
    },
    get: get as DocumentCache['get'],
  };
}

type Read = (text: string, context: RequestContext) => Promise<ReadDocument>;

/**
 * Lets several requests for the same new document share its validation. If a plugin refuses the
 * first request, the next one validates again, because the refusal may depend on the caller.
 */
function once(read: Read): Read {
  const reading = new Map<string, Promise<ReadDocument>>();
  const readOnce: Read = async (text, context) => {
    const other = reading.get(text);
    if (other) return other.catch(() => readOnce(text, context));
    const own = read(text, context).finally(() => reading.delete(text));
    reading.set(text, own);
    return own;
  };
  return readOnce;
}

const weightOf = (text: string, { tokenCount }: DocumentNode) =>
  WEIGHTS.document + 2 * text.length + WEIGHTS.token * (tokenCount ?? text.length);

const weightOfErrors = (text: string, errors: readonly GraphQLError[]) =>
  errors.reduce((sum, { message }) => sum + WEIGHTS.error + 2 * message.length, 2 * text.length);

function prepareOperations(document: DocumentNode, grow: (bytes: number) => void): Prepared {
  const fragments = fragmentsOf(document);
  const common = { document, fragments, conditions: variablesThatDecide(document) };
  const measure = createMeasure(fragments);
  const plansOf = (node: OperationDefinitionNode) =>
    createPlanCache({ weight: WEIGHTS.plan + WEIGHTS.field * measure(node).fields, grow });
  return {
    document,
    operations: operationsOf(document).map((node) => ({ ...common, node, plans: plansOf(node) })),
  };
}

/** The plans of one operation: one for each class of callers and each set of condition values. */
interface PlanCache {
  get(key: string): unknown;
  set(key: string, plan: unknown): void;
}

interface PlanCacheOptions {
  /** Estimated bytes of one plan and its statements. */
  readonly weight: number;
  /** Called with the bytes that the cache has grown by. */
  readonly grow: (bytes: number) => void;
  readonly entries?: number;
  readonly bytes?: number;
}

/**
 * Limits the plans of one operation, because six conditions make 64 plans of one document, and each
 * may be large.
 *
 * @example createPlanCache({ weight: 4000, grow: () => {} }).set('anyone', plan)
 */
export function createPlanCache({
  weight,
  grow,
  entries = 64,
  bytes = 4_000_000,
}: PlanCacheOptions): PlanCache {
  const plans = createBoundedCache<unknown>({ entries, bytes });
  return {
    get: plans.get,
    set: (key, plan) => {
      const before = plans.held;
      plans.set(key, plan, weight);
      grow(plans.held - before);
    },
  };
}
