import { Kind, parse } from 'graphql';
import type { Project } from '@twofold/schema';

/** The root type's name: `Query`, unless the schema definition says otherwise. */
export function rootName(root: 'query' | 'mutation' | 'subscription', project: Project): string {
  const usual = root.charAt(0).toUpperCase() + root.slice(1);
  return project.sdl.includes('schema') ? (definedName(root, project.sdl) ?? usual) : usual;
}

function definedName(root: string, sdl: string): string | undefined {
  const nodes = parse(sdl, { noLocation: true }).definitions.filter((node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION);
  return nodes.flatMap((node) => node.operationTypes ?? []).find((type) => (type.operation as string) === root)?.type.name.value;
}
