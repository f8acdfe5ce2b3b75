import type { ExecutionResult } from 'graphql';
import { parseDigits } from '../data/sql/exact-json.ts';
import type { ContextParts } from '../own-context/context-parts.ts';
import { DerivedContext } from '../own-context/derived-context.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { ContextServices } from '../own-context/services.ts';
import { toFailure } from '../data/write/database-failure.ts';
import { createDataApi } from '../data-api/index.ts';
import { rootCause } from './errors.ts';
import { clearLoaders, createLoaders } from './loaders.ts';
import type { Answer, Cut } from './operation-run.ts';
import { schemaNames } from '../schema-names/index.ts';
import { createPublisher } from './publish.ts';
import { type Parameters as Asked, readParameters } from './parameters.ts';
import { runOperation } from './run.ts';
import { RequestErrors } from './response.ts';
import { findOperation, type Service } from './service.ts';
import type { Kysely, KyselyPlugin, PluginTransformQueryArgs, RootOperationNode } from 'kysely';

/** What the GraphQL module adds to contexts. */
export function contextServices(
  service: Service,
  parts: ContextParts,
): Omit<ContextServices, 'explain' | 'principalOf' | 'auth' | 'jobs'> {
  const { engine } = service;
  const source = { ...service.source, textOf: ({ query }: Asked) => query ?? '' };
  const own: Service = { ...service, source };
  const dataOf = createDataApi(engine);
  const named = engine.store.db.withPlugin(schemaNames(engine.model));
  return {
    loaders: (context) => createLoaders(engine, context),
    db: (context) => clearingDatabase(named, () => clearLoaders(context)),
    data: (context) => dataOf(context, () => clearLoaders(context)),
    publish: createPublisher(engine),
    graphql: (context, query, variables) => {
      const { principal } = context;
      const asked = new DerivedContext(parts, context, { principal, sameRequest: true });
      return answerOperation(own, asked, query, variables);
    },
  };
}

async function answerOperation(
  service: Service,
  context: RequestContext,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { engine } = service;
  try {
    const operation = await findOperation(service, readParameters({ query, variables }), context);
    const cut: Cut[] = [];
    const answer = await runOperation(engine, { operation, variables, context, cuts: cut });
    if (cut.length > 0)
      context.log.warn({ cut }, 'lists that ctx.graphql read have more rows: ask for pages');
    return dataOf(answer);
  } catch (error) {
    throw error instanceof RequestErrors ? (error.errors[0] ?? error) : error;
  } finally {
    engine.store.memory.end(context);
  }
}

/** @throws the first error of the answer, as it was thrown originally. */
function dataOf(answer: Answer): unknown {
  const { data, errors }: ExecutionResult =
    'text' in answer ? parseDigits(String(answer.text)) : answer.result;
  const cause = errors?.[0] && rootCause(errors[0]);
  if (cause) throw toFailure(cause) ?? cause;
  return data;
}

/** The query builder of one request: what it writes empties the loaders of the request. */
const clearingDatabase = (db: Kysely<any>, clear: () => void): Kysely<any> =>
  db.withPlugin(new ClearingPlugin(clear));

const READS: ReadonlySet<RootOperationNode['kind']> = new Set(['SelectQueryNode']);

class ClearingPlugin implements KyselyPlugin {
  readonly #clear: () => void;
  readonly #writes = new WeakSet<object>();

  constructor(clear: () => void) {
    this.#clear = clear;
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    if (!READS.has(node.kind)) this.#writes.add(queryId);
    return node;
  }

  async transformResult({
    result,
    queryId,
  }: Parameters<KyselyPlugin['transformResult']>[0]): ReturnType<KyselyPlugin['transformResult']> {
    if (this.#writes.has(queryId)) this.#clear();
    return result;
  }
}
