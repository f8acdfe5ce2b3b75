import {
  type Kysely,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type RootOperationNode,
} from 'kysely';

/** The query builder of one request: what it writes empties the loaders of the request. */
export const clearingDatabase = (db: Kysely<any>, clear: () => void): Kysely<any> =>
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
