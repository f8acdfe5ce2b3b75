import type { RequestContext } from '../context/request-context.ts';
import type { EntityHooks } from '../context/entity-hooks.ts';
import { found } from '../data/model.ts';
import { createReader } from '../data/reader.ts';
import { updateFrom } from '../data/write/write-input.ts';
import { registerHooks } from '../data/write/writing.ts';
import type { DataParts } from './data-parts.ts';
import { createShape, dataModel, updateShape } from './data-model.ts';
import { InputReader } from './read-input.ts';

/**
 * Adds the hooks of the project and of plugins to a database, so that every way of writing runs
 * them. A project without hooks does not call it.
 *
 * @example addEntityHooks(engine, [{ Article: hooks }], () => systemContext(kernel))
 */
export function addEntityHooks(
  engine: DataParts,
  sources: readonly Readonly<Record<string, EntityHooks>>[],
  context: () => RequestContext,
): void {
  const names = new Set(sources.flatMap((hooks) => Object.keys(hooks)));
  if (names.size === 0) return;
  const model = dataModel(engine.model);
  const reading = { model, schema: engine.schema };
  registerHooks(engine.store, {
    hooks: new Map([...names].map((name) => [name, sources.flatMap((hooks) => hooks[name] ?? [])])),
    model,
    reader: createReader(model, engine.store),
    context,
    shape: (entity, operation) => {
      const id = operation === 'create' ? createShape(entity) : updateShape(entity);
      return found(model.writes.get(id), id);
    },
    read: (shape, input) => {
      const reader = new InputReader(reading);
      const read = reader.data(shape.id, input, '');
      reader.assertValid();
      return read;
    },
    update: updateFrom,
  });
}
