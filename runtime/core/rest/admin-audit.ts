import type { Entity } from '@twofold/schema';
import type { RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import { callerKey } from './caller-key.ts';
import type { RestService, WrittenRow } from './service.ts';

const MINUTE = 60_000;

/** What was written and read without access rules, for the audit log. */
export interface AdminAudit {
  /** Records a write with the names of its fields, in its transaction. */
  readonly written: NonNullable<RestService['written']>;
  /** Records reads: once a minute for each caller and type. */
  read(context: RequestContext, types: readonly ReadType[]): Promise<void>;
}

/** A type whose rows a request shows. */
type ReadType = Pick<Entity, 'name' | 'plural'>;

const VERBS = { create: 'create', update: 'update', remove: 'delete' } as const;

export function createAdminAudit({ audit, now }: Kernel): AdminAudit {
  const reads = createBoundedCache<number>({ entries: 10_000, bytes: 10_000 });
  return {
    written: async ({ context, operation, entity: { name, plural }, id, args }) => {
      const verb = VERBS[operation.action.kind as keyof typeof VERBS];
      const fields = fieldsOf(operation, args);
      await audit?.record(context, {
        action: `${verb}${name}AsAdmin`,
        target: `${plural}:${id}`,
        ...(fields.length > 0 && { detail: { fields } }),
      });
    },
    read: async (context, types) => {
      for (const { name, plural } of types) {
        const key = `${readerKey(context)} ${name}`;
        const last = reads.get(key);
        if (last !== undefined && now() - last < MINUTE) continue;
        await audit?.record(context, { action: 'readRowsAsAdmin', target: plural });
        reads.set(key, now(), 1);
      }
    },
  };
}

/** A text for one reader. An administrator who acts as a user counts as a different reader. */
function readerKey(context: RequestContext): string {
  const { principal } = context;
  const impersonator = 'impersonator' in principal ? ` by ${principal.impersonator}` : '';
  return callerKey(context) + impersonator;
}

/** The names of the fields that an input sets. */
function fieldsOf(
  { action }: WrittenRow['operation'],
  args: Readonly<Record<string, unknown>>,
): string[] {
  const input = 'input' in action && action.input !== undefined ? args[action.input] : undefined;
  return Object.keys(input ?? {}).slice(0, MOST_FIELDS);
}

const MOST_FIELDS = 50;
