import { parseExact } from '../data/sql/exact-json.ts';
import DataLoader from 'dataloader';
import type { Loader } from '@twofold/schema';
import { createRules, refusal } from '../data/access/access.ts';
import { decodeRow, type EntityModel, type Model } from '../data/model.ts';
import type { Planned } from '../data/plan.ts';
import type { Reader } from '../data/reader.ts';
import { ROW_KEY } from '../data/sql/scope.ts';
import { requestOf } from '../context/context-family.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { Store } from '../store/store.ts';

type Row = Readonly<Record<string, unknown>>;
export type RowLoader = DataLoader<number | string, Row | null | Row[], string>;
export type Loaders = Readonly<Record<string, RowLoader>>;

export interface Parts {
  readonly model: Model;
  readonly store: Store;
  readonly reader: Reader;
}

/** The most keys of one batch; further keys are read by further statements. */
const BATCH = 1000;

/**
 * The loaders of one request, each made on first use: `loaders.user.load(7)`,
 * `loaders.postsByAuthor.load(7)`. Keys that are requested in the same tick share a statement.
 * Loaders return only rows that the caller may see.
 */
export function createLoaders(parts: Parts, context: RequestContext): Loaders {
  const loaders: Record<string, RowLoader> = {};
  for (const loader of parts.model.project.loaders) {
    // A batch is one statement of one transaction: a savepoint that awaited a batch of the
    // transaction around it would wait for itself, as that one waits for the savepoint's end.
    const made = new WeakMap<object, RowLoader>();
    Object.defineProperty(loaders, loader.name, {
      enumerable: true,
      get: () => {
        const scope = parts.store.scope();
        const known = made.get(scope ?? context);
        if (known) return known;
        const loads = registerLoader(context, rowLoader(parts, context, loader), scope);
        made.set(scope ?? context, loads);
        return loads;
      },
    });
  }
  return loaders;
}

interface Registered {
  readonly loader: RowLoader;
  /** The transaction whose rows it loads. */
  readonly scope: { readonly closed: boolean } | undefined;
}

/** Every loader that a request may still use, so that a write can empty them. */
const LOADERS_OF = new WeakMap<RequestContext, Registered[]>();

function registerLoader(
  context: RequestContext,
  loader: RowLoader,
  scope?: Registered['scope'],
): RowLoader {
  const request = requestOf(context);
  const open = (LOADERS_OF.get(request) ?? []).filter((each) => !each.scope?.closed);
  LOADERS_OF.set(request, [...open, { loader, scope }]);
  return loader;
}

/** Empties the loaders, because a write may have changed the rows. */
export function clearLoaders(context: RequestContext): void {
  for (const { loader } of LOADERS_OF.get(requestOf(context)) ?? []) loader.clearAll();
}

const ROWS = new WeakMap<RequestContext, Map<string, RowLoader>>();

/** The row of an entity by its key, batched like any loader. */
export async function loadRow(
  parts: Parts,
  context: RequestContext,
  entity: string,
  id: number | string,
): Promise<Row | null> {
  const loaders = ROWS.get(context) ?? new Map<string, RowLoader>();
  ROWS.set(context, loaders);
  const loader =
    loaders.get(entity) ??
    registerLoader(context, rowLoader(parts, context, { name: '', entity, by: 'id', many: false }));
  loaders.set(entity, loader);
  return (await loader.load(id)) as Row | null;
}

function rowLoader({ model, reader }: Parts, context: RequestContext, loader: Loader): RowLoader {
  const field = plannedRow(loader);
  const keyColumn = loader.via ? 'id' : loader.by;
  return new DataLoader(
    async (keys) => {
      const rules = createRules(model, context.principal);
      const access = rules.entity(model.entity(loader.entity).entity, 'READ');
      if (access.kind === 'none') throw refusal(access.code);
      const reading = {
        rules,
        tree: false,
        asker: context,
        own: true,
      };
      const texts = await reader.readBatch(
        loader.entity,
        field,
        keyColumn,
        keys,
        loader.many ? [{ equals: [], order: [{ column: 'id', descending: false }] }] : [],
        reading,
      );
      return texts.map((text) => readRows(model.entity(loader.entity), text, loader.many));
    },
    { cacheKeyFn: String, maxBatchSize: BATCH },
  );
}

/** The plan that reads all columns of the row, or rows, of a key. */
function plannedRow({ entity, by, many, via }: Loader): Planned {
  const selection = { entity, fields: [], row: true };
  if (!many)
    return {
      kind: 'one',
      key: '',
      required: false,
      link: { key: 'inverse', column: by },
      selection,
    };
  const list = { filters: [], paging: { default: Infinity, max: Infinity }, order: [] };
  return {
    kind: 'many',
    key: '',
    entity,
    link: via ? { kind: 'table', ...via } : { kind: 'column', column: by },
    list,
    call: 0,
    selection,
  };
}

function readRows(entity: EntityModel, text: string | null, many: boolean): Row | null | Row[] {
  if (text === null) return many ? [] : null;
  const value = parseExact(text);
  return many
    ? (value as Record<string, any>[]).map((item) => decodeRow(entity, item[ROW_KEY]))
    : decodeRow(entity, value[ROW_KEY]);
}
