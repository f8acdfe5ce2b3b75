import { readProject } from '@twofold/schema';
import type { Diagnostic, Entity, Field, Operation, Project } from '@twofold/schema';

/** Both files, read. */
export function read(
  sdl: string,
  manifest: string | null = null,
  scalars?: Record<string, 'text' | 'integer'>,
) {
  return readProject({
    schema: [{ file: 'schema.graphql', text: sdl }],
    manifest: manifest === null ? null : { file: 'manifest.yaml', text: manifest },
    ...(scalars && { scalars }),
  });
}

/** The model of a schema that has to be right. */
export function projectOf(sdl: string, manifest: string | null = null): Project {
  const { project, diagnostics } = read(sdl, manifest);
  if (!project) throw new Error(diagnostics.map(short).join('\n'));
  return project;
}

/** `3:7 TYPE_UNKNOWN`: place and code of a finding. */
export function short({ at, code }: Diagnostic): string {
  return `${at.line}:${at.column} ${code}`;
}

export function findingsOf(sdl: string, manifest: string | null = null): string[] {
  return read(sdl, manifest).diagnostics.map(short);
}

export function entityOf(project: Project, name: string): Entity {
  const entity = project.entities.find((candidate) => candidate.name === name);
  if (!entity) throw new Error(`no entity ${name}`);
  return entity;
}

export function fieldOf(project: Project, name: string): Field {
  const [owner = '', field] = name.split('.');
  const found = entityOf(project, owner).fields.find((candidate) => candidate.name === field);
  if (!found) throw new Error(`no field ${name}`);
  return found;
}

export function operationOf(project: Project, name: string): Operation {
  const operation = project.operations.find((candidate) => candidate.name === name);
  if (!operation) throw new Error(`no operation ${name}`);
  return operation;
}

/** The names of an entity's columns. */
export function columnsOf(project: Project, name: string): string[] {
  return entityOf(project, name).columns.map((column) => column.name);
}

export const QUERY = 'type Query { hello: String }\n';
