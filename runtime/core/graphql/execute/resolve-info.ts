import type { Execution, Path } from './execution.ts';
import type { ExecutableField } from './field.ts';
import type { GraphQLResolveInfo } from 'graphql';

/** Makes `info`, the fourth argument of a resolver. */
export function resolveInfo(
  { run, fragments, helpers }: Execution,
  { definition, nodes, parent }: ExecutableField,
  path: Path,
): GraphQLResolveInfo {
  return {
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType: parent,
    path,
    schema: run.engine.schema,
    fragments,
    rootValue: run,
    operation: run.operation.node,
    variableValues: run.variables,
    getAbortSignal: helpers.getAbortSignal,
    getAsyncHelpers: helpers.getAsyncHelpers,
  };
}
