import type { Constraint, Operation } from '@twofold/schema';
import { getNamedType, isInputObjectType, type GraphQLInputType } from 'graphql';
import { actionErrors } from '../data/write/action-inputs.ts';
import {
  argumentErrors,
  constraintErrors,
  type InputError,
  uniqueErrors,
} from '../data/write/constraint.ts';
import type { Engine } from './engine.ts';

type Values = Readonly<Record<string, unknown>>;
type Constraints = Readonly<Record<string, Constraint>>;

/**
 * The problems of the arguments that a function of the project would get, wherever a `@constraint`
 * stands: on an argument or on a field of an input, nested inputs included.
 */
export function errorsOfArguments(
  { schema, model }: Pick<Engine, 'schema' | 'model'>,
  operation: Operation,
  args: Values,
): InputError[] {
  // A function that replaces a write which Twofold infers gets only values that fit the columns.
  const own = [...argumentErrors(operation, args), ...actionErrors(model, operation.action, args)];
  const { constraints } = model.project;
  if (!constraints) return own;
  const root = schema.getRootType(operation.root as never);
  const declared = root?.getFields()[operation.name]?.args ?? [];
  // The same constraint may stand on the field of the input and on the column.
  return uniqueErrors([
    ...own,
    ...declared.flatMap(({ name, type }) => valueErrors(constraints, type, args[name], name)),
  ]);
}

function valueErrors(
  constraints: Constraints,
  type: GraphQLInputType,
  value: unknown,
  at: string,
): InputError[] {
  const input = getNamedType(type);
  if (value === null || value === undefined || !isInputObjectType(input)) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => valueErrors(constraints, type, item, `${at}.${index}`));
  return Object.values(input.getFields()).flatMap((field) => {
    const given = (value as Values)[field.name];
    const path = `${at}.${field.name}`;
    return [
      ...constraintErrors(constraints[`${input.name}.${field.name}`], given, path),
      ...valueErrors(constraints, field.type, given, path),
    ];
  });
}
