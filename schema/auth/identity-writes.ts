import type { Action, Project, Write, WriteShape } from '../model.ts';
import { shapeOwner } from '../build/write-shapes.ts';

/** An identity column of the user, and the argument or input field that would write it. */
export interface IdentityWrite {
  /**
   * The input type, or the mutation with the argument: `UpdateUserInput`, `Mutation.createUser`.
   */
  readonly owner: string;
  readonly name: string;
  readonly column: string;
  /** The id of the write shape. */
  readonly shape: string;
}

/**
 * Identity columns that mutations would write, although only the auth endpoints may: callers who
 * can replace the address of another user can take over that account.
 *
 * @example
 * identityWrites(project) // [{ owner: 'UpdateUserInput', name: 'email', column: 'email', … }]
 */
export function identityWrites(project: Project): IdentityWrite[] {
  const { entity, identity = [] } = project.auth?.user ?? {};
  if (!entity) return [];
  return reachable(project)
    .filter((shape) => shape.entity === entity)
    .flatMap(({ id, writes }) =>
      writes.flatMap((write) =>
        write.kind === 'column' && identity.includes(write.column)
          ? [{ owner: shapeOwner(id), name: write.name, column: write.column, shape: id }]
          : [],
      ),
    );
}

/**
 * @example
 * identityWriteText(write) // 'UpdateUserInput.email would let a mutation change what people sign in with'
 */
export function identityWriteText({ owner, name }: IdentityWrite): string {
  return `${owner}.${name} would let a mutation change what signs a person in`;
}

/** The write shapes of all mutations, including nested ones. */
function reachable({ operations, writes }: Project): WriteShape[] {
  const known = new Map(writes.map((shape) => [shape.id, shape]));
  const found = new Set<WriteShape>();
  const visit = (id: string) => {
    const shape = known.get(id);
    if (!shape || found.has(shape)) return;
    found.add(shape);
    for (const nested of shape.writes.flatMap(nestedShape)) visit(nested);
  };
  for (const { action } of operations) for (const id of writesOf(action)) visit(id);
  return [...found];
}

/** The write shapes of an action, without nested ones. */
function writesOf(action: Action): string[] {
  if (action.kind === 'upsert') return [action.create.write, action.update.write];
  return 'write' in action ? [action.write] : [];
}

export const nestedShape = (write: Write): string[] =>
  write.kind === 'nested'
    ? [write.create, write.connectOrCreate?.create, write.update].flatMap(
        (part) => part?.shape ?? [],
      )
    : [];
