import { RawNode, type KyselyPlugin, type PluginTransformQueryArgs } from 'kysely';
import { type NamedColumn, namedTables, type NamedTables } from './named-tables.ts';
import type { Model } from '../data/model.ts';
import { NamesTransformer } from './transformer.ts';

type Row = Record<string, unknown>;
type Outputs = readonly NamedColumn[] | 'raw';

/**
 * Lets a query builder speak the schema's names: `blogPosts` and `createdAt` for `blog_posts` and
 * `created_at`. The database's own names are still taken. Rows have the values of `ctx.data`.
 *
 * @example db.withPlugin(schemaNames(model)).selectFrom('blogPosts').select('createdAt')
 */
export const schemaNames = (model: Model): KyselyPlugin => new SchemaNames(namedTables(model));

class SchemaNames implements KyselyPlugin {
  readonly #tables: NamedTables;
  readonly #outputs = new WeakMap<object, Outputs>();

  constructor(tables: NamedTables) {
    this.#tables = tables;
  }

  transformQuery({ node, queryId }: PluginTransformQueryArgs): PluginTransformQueryArgs['node'] {
    const translated = new NamesTransformer(this.#tables).translate(node, queryId);
    const outputs = RawNode.is(node) ? 'raw' : translated.outputs;
    if (outputs === 'raw' || outputs?.some(({ convert }) => convert))
      this.#outputs.set(queryId, outputs);
    return translated.node;
  }

  async transformResult({
    result,
    queryId,
  }: Parameters<KyselyPlugin['transformResult']>[0]): ReturnType<KyselyPlugin['transformResult']> {
    const outputs = this.#outputs.get(queryId);
    if (!outputs || result.rows.length === 0) return result;
    const rows =
      outputs === 'raw'
        ? result.rows.map((row) => named(row, this.#tables.columns))
        : result.rows.map((row) => converted(row, outputs));
    return { ...result, rows };
  }
}

/** Renames the columns of a raw row from their names in the database. */
function named(row: Row, columns: NamedTables['columns']): Row {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => {
      const column = columns.get(key);
      return [column?.name ?? key, column?.convert ? column.convert(value) : value];
    }),
  );
}

function converted(row: Row, outputs: readonly NamedColumn[]): Row {
  for (const { name, convert } of outputs) if (convert) row[name] = convert(row[name]);
  return row;
}
