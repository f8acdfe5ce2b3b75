import type { WriteShape } from '@twofold/schema';
import type { Access } from '../access/access.ts';
import { assertValid, inputErrors } from './constraint.ts';
import { plainInsert, type PlainInsert } from './plain-insert.ts';
import { onlyResolves, RowHooks } from './row-hooks.ts';
import type { Arguments, Actor, WriteRequest } from './write-request.ts';
import { plainInput, without } from './write-input.ts';
import { hooksOf } from './writing.ts';

interface Insert<T> {
  readonly shape: WriteShape;
  readonly input: Arguments;
  readonly access: Access;
  readonly returning: NonNullable<WriteRequest<T>['returning']>;
}

/** What is known of a create after its hooks have returned, or when one of them waits. */
export interface HookedInsert<T> {
  readonly insert?: PlainInsert<T>;
  readonly hooks?: RowHooks;
  /** Set when a hook waits. The insert comes after it: in its savepoint, the hook could not read. */
  readonly waits?: Promise<unknown>;
}

/**
 * A create whose only hooks complete the input stays one statement, if the hooks return without
 * waiting.
 *
 * @returns the statement, or the hooks that have begun, for a create with several statements.
 */
export function hookedInsert<T>(
  actor: Actor,
  request: WriteRequest<T>,
  { shape, input, access, returning }: Insert<T>,
): HookedInsert<T> {
  const parts = hooksOf(actor.store);
  if (!parts || !onlyResolves(parts, shape.entity, 'create')) return {};
  const caller = request.context ?? parts.context();
  const entity = parts.model.entity(shape.entity);
  const hooks = new RowHooks({ ...parts, caller }, entity, 'create');
  const added = hooks.resolve(input);
  if (added instanceof Promise) return { hooks, waits: added };
  assertValid(inputErrors(parts.model, hooks.shape, added));
  const { rules } = request;
  const { dialect } = actor.store;
  const writer = { model: parts.model, rules, caller: request.caller, dialect, now: actor.now() };
  const more = plainInput(writer, hooks.shape, added);
  const given = without(parts.model, { shape, input }, added, hooks.shape);
  const insert =
    more &&
    plainInsert({ ...actor, model: parts.model }, request, {
      shape,
      input: given,
      more,
      access,
      returning,
    });
  return insert ? { insert, hooks } : { hooks };
}
