import type { Action, WriteShape } from '@twofold/schema';
import { inputErrors, type InputError, uniqueErrors } from './constraint.ts';
import { listOf } from '../sql/list-of.ts';
import { found, type Model } from '../model.ts';
import type { Arguments } from './write-request.ts';

/** An input object of a mutation. */
export interface ActionInput {
  readonly shape: WriteShape;
  readonly input: Arguments;
  /** Its path in the arguments; empty when the arguments themselves are the input. */
  readonly at: string;
}

/** The members of the input of a create or an update, with the arguments beside it. */
export function inputOf(
  { input, beside = [] }: Pick<WrittenAt, 'input' | 'beside'>,
  args: Arguments,
): Arguments {
  if (input === undefined) return args;
  const members = (args[input] ?? {}) as Arguments;
  if (beside.length === 0) return members;
  const given = beside.filter((name) => name in args).map((name) => [name, args[name]]);
  return { ...members, ...Object.fromEntries(given) };
}

/** The inputs of a mutation, each with the columns and relations that it writes. */
export function actionInputs(model: Model, action: Action, args: Arguments): ActionInput[] {
  return writesOf(action).flatMap(({ write, input, many = false, beside }) => {
    const shape = found(model.writes.get(write), `input ${write}`);
    if (input === undefined) return [{ shape, input: args, at: '' }];
    const given = args[input];
    return many
      ? listOf(given).map((item, index) => ({ shape, input: item, at: `${input}.${index}` }))
      : [{ shape, input: inputOf({ input, beside }, args), at: input }];
  });
}

interface WrittenAt {
  readonly write: string;
  readonly input?: string | undefined;
  readonly beside?: readonly string[] | undefined;
  /** Whether the argument holds one input for each row. */
  readonly many?: boolean;
}

function writesOf(action: Action): readonly WrittenAt[] {
  if (action.kind === 'upsert') return [action.create, action.update];
  if (action.kind === 'createMany') return [{ ...action, many: true }];
  if (action.kind === 'create' || action.kind === 'update' || action.kind === 'updateMany')
    return [action];
  return [];
}

/**
 * The problems of the inputs of a mutation.
 *
 * @param prefix replaces the path of an input before the names of its fields.
 */
export const actionErrors = (
  model: Model,
  action: Action,
  args: Arguments,
  prefix?: string,
): InputError[] =>
  // The create and the update of an upsert may share one input.
  uniqueErrors(
    actionInputs(model, action, args).flatMap(({ shape, input, at }) =>
      inputErrors(model, shape, input, prefix ?? (at === '' ? '' : `${at}.`)),
    ),
  );
