import { requestOf } from '../context/context-family.ts';
import type { RequestContext } from '../context/request-context.ts';
import { createRules } from '../data/access/access.ts';
import type { Model } from '../data/model.ts';
import { createReader } from '../data/reader.ts';
import { isAfterCommit } from '../store/transactions/after-commit.ts';
import type { DataCaller, DataParts } from './data-parts.ts';
import { dataModel } from './data-model.ts';
import { EntityData } from './entity-data.ts';
import { EntityPlan } from './entity-plan.ts';

/** Makes `ctx.data` of a request. */
export type DataOf = (context: RequestContext, clear: () => void) => Record<string, EntityData>;

/**
 * The data API of a server. A server whose code does not use it makes nothing but this function.
 *
 * @example createDataApi(engine)(context, () => {}).article.findUnique({ where: { slug: 'x' } })
 */
export function createDataApi(engine: DataParts): DataOf {
  let api: DataApiClass | undefined;
  return (context, clear) => new (api ??= apiClass(engine))(callerOf(engine.model, context, clear));
}

function callerOf(model: Model, context: RequestContext, clear: () => void): DataCaller {
  const { principal } = context;
  const asker = requestOf(context).principal.kind === 'system' ? undefined : context;
  return {
    context,
    rules: createRules(model, principal),
    get asker() {
      return isAfterCommit() ? undefined : asker;
    },
    clear,
  };
}

type DataApiClass = new (caller: DataCaller) => Record<string, EntityData>;

/** A class with a getter for each entity, so that a request creates only the APIs that it uses. */
function apiClass(engine: DataParts): DataApiClass {
  const model = dataModel(engine.model);
  const { store, schema, changes, now, watchesRemoval } = engine;
  const reader = createReader(model, store);
  const parts: DataParts = { model, store, reader, schema, changes, now, watchesRemoval };
  class DataApi {
    readonly caller: DataCaller;
    constructor(caller: DataCaller) {
      this.caller = caller;
    }
  }
  for (const entity of model.entities.values()) {
    let plan: EntityPlan | undefined;
    const name = entity.entity.singular;
    Object.defineProperty(DataApi.prototype, name, {
      enumerable: true,
      get(this: DataApi) {
        const value = new EntityData((plan ??= new EntityPlan(parts, entity)), this.caller);
        Object.defineProperty(this, name, { value, enumerable: true });
        return value;
      },
    });
  }
  return DataApi as unknown as DataApiClass;
}
