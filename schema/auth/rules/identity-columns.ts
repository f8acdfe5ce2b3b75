import { getNamedType, isInputObjectType } from 'graphql';
import type { ASTNode, GraphQLArgument, GraphQLInputField } from 'graphql';
import { coordinate, type FieldFact } from '../../build/facts.ts';
import type { Built } from '../../build/built.ts';
import {
  identityWrites,
  identityWriteText,
  nestedShape,
  type IdentityWrite,
} from '../identity-writes.ts';
import type { WriteShape } from '../../model.ts';
import { shapeOwner } from '../../build/write-shapes.ts';
import { finding, type Rule } from '../../rules/finding.ts';
import { identityKind } from '../../build/identity.ts';

/**
 * AUTH_COLUMN_WRITTEN: identity columns are changed only by auth endpoints, which verify the
 * caller, and never by a mutation.
 */
export const identityColumns: Rule = function* (built) {
  for (const write of identityWrites(built.project)) {
    const fixes = fixesOf(built, write);
    const changes = fixes.flatMap(({ node }) => (node ? [{ kind: 'remove' as const, node }] : []));
    yield finding('AUTH_COLUMN_WRITTEN', slot(built, write.owner, write.name)?.astNode?.name, {
      summary: identityWriteText(write),
      why: 'an account belongs to its address: with a mutation that writes it, one person takes the account of another',
      fix: fixes.map(({ text }) => text).join('; '),
      ...(changes.length === fixes.length && { changes }),
    });
  }
};

/** A part to remove from the schema, and the endpoint to call in its place. */
interface Removal {
  readonly text: string;
  /**
   * The node to remove; absent if a type would have no field left: then the whole mutation has to
   * be removed.
   */
  readonly node: ASTNode | undefined;
}

const REGISTER = 'POST /api/auth/register makes accounts';

/** One fix for each way in which the shape is written. */
function fixesOf(built: Built, write: IdentityWrite): Removal[] {
  const shape = built.project.writes.find(({ id }) => id === write.shape);
  const { creates, updates } = usesOf(built, write.shape);
  const flow = identityFlow(write.name);
  const made = [
    ...creates.map((field) => withoutMutation(built, field, REGISTER)),
    ...nestedCreates(built, write.shape),
  ];
  if (updates.length === 0) return made;
  if (isOnlyIdentity(built, shape))
    return [...made, ...updates.map((field) => withoutMutation(built, field, flow))];
  const taken = slot(built, write.owner, write.name);
  const text = `take "${write.name}: ${String(taken?.type)}" out of ${write.owner}: ${flow}`;
  return [...made, { text, node: taken?.astNode ?? undefined }];
}

function withoutMutation({ facts }: Built, field: FieldFact, instead: string): Removal {
  const others = Object.keys(facts.schema.getMutationType()?.getFields() ?? {}).length > 1;
  return {
    text: `take ${field.name} out of ${field.owner}: ${instead}`,
    node: others ? (field.field.astNode ?? undefined) : undefined,
  };
}

function usesOf({ operations }: Built, shape: string) {
  const named = (kind: 'create' | 'update') =>
    operations.flatMap(({ field, operation: { action } }) =>
      action.kind === kind && action.write === shape ? [field] : [],
    );
  return { creates: named('create'), updates: named('update') };
}

/** Whether the shape writes only identity columns: then the whole mutation has to be removed. */
function isOnlyIdentity({ project }: Built, shape: WriteShape | undefined): boolean {
  const identity = project.auth?.user.identity ?? [];
  const writes = shape?.writes.filter(({ kind }) => kind !== 'ignored') ?? [];
  return writes.every((write) => write.kind === 'column' && identity.includes(write.column));
}

/** The members `create` through which other inputs create such a row. */
function nestedCreates(built: Built, shape: string): Removal[] {
  return built.project.writes.flatMap((parent) =>
    parent.writes.flatMap((write) => {
      if (write.kind !== 'nested' || !nestedShape(write).includes(shape)) return [];
      const around = slot(built, shapeOwner(parent.id), write.name);
      const input = around && getNamedType(around.type);
      const parts = isInputObjectType(input) ? input.getFields() : {};
      const part = parts['create'];
      if (!input || !part) return [];
      const text = `take "${part.name}: ${String(part.type)}" out of ${input.name}: ${REGISTER}`;
      const node = Object.keys(parts).length > 1 ? part.astNode : undefined;
      return [{ text, node: node ?? undefined }];
    }),
  );
}

/** The field of an input type, or the argument of a mutation. */
function slot(
  built: Built,
  owner: string,
  name: string,
): GraphQLInputField | GraphQLArgument | undefined {
  const type = built.facts.schema.getType(owner);
  if (isInputObjectType(type)) return type.getFields()[name];
  return mutationAt(built, owner)?.field.args.find((each) => each.name === name);
}

const mutationAt = ({ operations }: Built, owner: string): FieldFact | undefined =>
  operations.find(({ field }) => coordinate(field) === owner)?.field;

const VERIFIED = /verif|confirm|validat/i;
const LOCKED = /lock/i;
const DELETED = /delet|remov/i;

/**
 * The endpoint that writes an identity column. Findings name it when a mutation must not write the
 * column.
 */
function identityFlow(name: string): string {
  switch (identityKind(name)) {
    case 'email':
      return 'POST /api/auth/change-email changes it, and the new address proves itself';
    case 'username':
    case 'phone':
      return 'PATCH /api/auth/me changes it';
    case 'last_login':
      return 'a sign-in writes it';
    default:
      if (VERIFIED.test(name)) return 'POST /api/auth/verify-email writes it';
      if (LOCKED.test(name)) return 'POST /api/auth/admin/users/:id/unlock is for that';
      if (DELETED.test(name)) return 'DELETE /api/auth/me is for that';
      return 'POST /api/auth/admin/users/:id/disable and …/enable are for that';
  }
}
