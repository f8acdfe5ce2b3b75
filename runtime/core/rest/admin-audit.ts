import type { RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import { callerKey } from './caller-key.ts';
import type { RestService, ServedModule, WrittenRow } from './service.ts';

const MINUTE = 60_000;

/** What is written and read past the rules, for the audit log. */
export interface AdminAudit {
  /** Records a write with the names of its fields, in its transaction. */
  readonly written: NonNullable<RestService['written']>;
  /** Records a read: once a minute for each caller and type. */
  read(context: RequestContext, served: ServedModule): Promise<void>;
}

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
    read: async (context, served) => {
      const { name, plural } = served.module.entity;
      const key = `${callerKey(context)} ${name}`;
      const last = reads.get(key);
      if (last !== undefined && now() - last < MINUTE) return;
      reads.set(key, now(), 1);
      await audit?.record(context, { action: 'readRowsAsAdmin', target: plural });
    },
  };
}

/** The names of what an input sets. */
function fieldsOf(
  { action }: WrittenRow['operation'],
  args: Readonly<Record<string, unknown>>,
): string[] {
  const input = 'input' in action && action.input !== undefined ? args[action.input] : undefined;
  return Object.keys(input ?? {}).slice(0, MOST_FIELDS);
}

const MOST_FIELDS = 50;
