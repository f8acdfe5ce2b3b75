import { buildASTSchema, Kind, parse } from 'graphql';
import type { ConstDirectiveNode, DefinitionNode, GraphQLDirective } from 'graphql';
import { directivesSdl } from './directives/index.ts';

const DEFINITIONS = parse(directivesSdl, { noLocation: true }).definitions;
const NAMES: ReadonlySet<string> = new Set(
  DEFINITIONS.map((node) => ('name' in node && node.name ? node.name.value : '')),
);

/** Our directives as graphql-js objects with their argument types; made once. */
const DIRECTIVES: ReadonlyMap<string, GraphQLDirective> = new Map(
  buildASTSchema({ kind: Kind.DOCUMENT, definitions: DEFINITIONS }, { assumeValid: true })
    .getDirectives()
    .filter((directive) => NAMES.has(directive.name))
    .map((directive) => [directive.name, directive]),
);

/** The directives, by name. */
export function ourDirectives(): ReadonlyMap<string, GraphQLDirective> {
  return DIRECTIVES;
}

export function isOurDirective(directive: ConstDirectiveNode): boolean {
  return DIRECTIVES.has(directive.name.value);
}

/** Whether a definition is a copy of one of ours: the file for editors may be among the sources. */
export function isOurDefinition(node: DefinitionNode): boolean {
  if (node.kind === Kind.DIRECTIVE_DEFINITION) return DIRECTIVES.has(node.name.value);
  return (
    (node.kind === Kind.ENUM_TYPE_DEFINITION || node.kind === Kind.SCALAR_TYPE_DEFINITION) &&
    NAMES.has(node.name.value)
  );
}
