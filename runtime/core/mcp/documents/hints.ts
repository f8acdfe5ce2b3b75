import type { Action } from '@twofold/schema';
import { READS, type ToolHints } from '@twofold/schema/mcp';
import type { PreparedOperation } from '../../graphql/document-cache.ts';
import { type Engine, isOwn, rootName } from '../../graphql/engine.ts';
import { rootFieldsOf } from './root-fields.ts';

const CREATES: ReadonlySet<Action['kind']> = new Set(['create', 'createMany']);
const REMOVES: ReadonlySet<Action['kind']> = new Set(['remove', 'removeMany']);

/**
 * What a call may do. A function of the project may do anything, so it counts as one that changes
 * rows.
 */
export function hintsOf(engine: Engine, operation: PreparedOperation): ToolHints {
  if (operation.node.operation !== 'mutation') return READS;
  const kinds = rootFieldsOf(operation).map(({ name }) => kindOf(engine, name.value));
  return {
    readOnlyHint: false,
    destructiveHint: !kinds.every((kind) => CREATES.has(kind)),
    idempotentHint: kinds.every((kind) => REMOVES.has(kind)),
    openWorldHint: false,
  };
}

function kindOf(engine: Engine, field: string): Action['kind'] {
  if (isOwn(engine, rootName(engine, 'mutation') ?? '', field)) return 'custom';
  const { operations } = engine.model.project;
  const found = operations.find(({ root, name }) => root === 'mutation' && name === field);
  return found?.action.kind ?? 'custom';
}
