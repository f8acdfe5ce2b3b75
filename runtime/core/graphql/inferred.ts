import { isDeepStrictEqual } from 'node:util';
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLResolveInfo,
  Kind,
  type VariableValues,
} from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { InternalError } from '../errors.ts';
import { readArguments } from './arguments.ts';
import type { RootKind } from './engine.ts';
import { planOperation } from './plan/operation.ts';
import { fromParent } from './parent-fields.ts';
import { settle, valueOf } from './run.ts';
import { type Run, runLike } from './operation-run.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Parent = Readonly<Record<string, any>>;

/** Runs the action that a resolver of the user replaces, see `inferred` of the runtime. */
export async function answerInferred(
  parent: Parent,
  args: Arguments,
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const run = info.rootValue as Run;
  const { engine } = run;
  assertKnown(args, info);
  const type = info.parentType.name;
  const kind = (['query', 'mutation'] as const).find(
    (each) => engine.schema.getRootType(each as never) === info.parentType,
  );
  if (kind) return answerRoot(run, kind, args, info);
  const entity = engine.model.entities.get(type);
  const field = entity?.fields.get(info.fieldName);
  if (!entity || !field || field.source.kind === 'custom') throw nothing(info);
  const given = readArguments(run, type, info.fieldNodes[0] as FieldNode);
  if (isDeepStrictEqual({ ...given }, { ...args }))
    return fromParent(engine, entity, field, parent, args, context, info);
  const asked = withArguments(run, info.fieldNodes, args);
  // The arguments differ from those of the document, so this read is not batched with its
  // neighbours.
  const { variables } = asked;
  const apart = runLike(run, { variables, batches: new Map(), askable: new Map() });
  return fromParent(engine, entity, field, parent, args, context, {
    ...info,
    fieldNodes: asked.nodes,
    rootValue: apart,
  });
}

/** An argument that the field does not have would be dropped without a word. */
function assertKnown(args: Arguments, { parentType, fieldName }: GraphQLResolveInfo): void {
  const known = parentType.getFields()[fieldName]?.args ?? [];
  const unknown = Object.keys(args).find((name) => !known.some((arg) => arg.name === name));
  if (unknown !== undefined)
    throw new InternalError(`${parentType.name}.${fieldName} has no argument ${unknown}`);
}

async function answerRoot(
  run: Run,
  kind: Exclude<RootKind, 'subscription'>,
  args: Arguments,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const { nodes, variables } = withArguments(run, info.fieldNodes, args);
  const isReplaced = (type: string, field: string) =>
    type === info.parentType.name && field === info.fieldName;
  const planning = {
    ...run.planning,
    isCustom: (type: string, field: string) =>
      !isReplaced(type, field) && run.planning.isCustom(type, field),
    // Errors are thrown to the function, and what it has written before is undone with it.
    casesOf: () => ({}),
  };
  const { roots } = planOperation(planning, kind, info.parentType.name, {
    selectionSet: { kind: Kind.SELECTION_SET, selections: nodes },
  });
  const [root] = roots;
  if (!root || root.kind === 'function') throw nothing(info);
  return valueOf(await settle(runLike(run, { variables }), root, true));
}

const nothing = ({ parentType, fieldName }: GraphQLResolveInfo) =>
  new InternalError(`nothing is inferred for ${parentType.name}.${fieldName}`);

/**
 * The nodes of a field with other argument values. A document cannot hold the values, so they are
 * passed as variables.
 */
function withArguments(
  { variables }: Run,
  nodes: readonly FieldNode[],
  args: Arguments,
): { nodes: readonly FieldNode[]; variables: VariableValues } {
  const given = Object.keys(args).filter((name) => args[name] !== undefined);
  const coerced = {
    ...variables.coerced,
    ...Object.fromEntries(given.map((name) => [variableName(name), args[name]])),
  };
  const written = given.map((name): ArgumentNode => ({
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: name },
    value: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: variableName(name) } },
  }));
  const sources = {
    ...variables.sources,
    ...Object.fromEntries(given.map((name) => [variableName(name), { value: args[name] }])),
  };
  return {
    nodes: nodes.map((node) => ({ ...node, arguments: written })),
    variables: { ...variables, sources, coerced } as VariableValues,
  };
}

/** Contains a space, so no variable of a document can have this name. */
const variableName = (name: string) => `argument ${name}`;
