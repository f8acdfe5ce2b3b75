import { closed, flag, listed, object, type Shaped, text } from '@twofold/schema/shapes';
import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { showTarget, type TargetFields } from '../backups/targets/targets.ts';
import { deleted, flow, ON_APP, USUAL } from './flow.ts';

const line = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength }) as const;
const target = object({ name: text, kind: { enum: ['s3', 'local'] } });

export const listBackupTargets = flow('GET /api/backup-targets', {
  needs: 'system:read',
  summary: 'Lists the places where backups are stored, without their keys',
  answers: { 200: ['The targets', listed('targets', target)] },
  refuses: USUAL,
  async handle(_call, { backups }) {
    const all = await backups.parts.targets.list();
    return reply(200, { targets: all, total: all.length });
  },
});

export const putBackupTarget = flow('PUT /api/backup-targets/:name', {
  needs: 'system:write',
  summary: 'Adds or replaces a place for backups, after it was tried',
  audit: { values: ['kind', 'endpoint', 'bucket', 'path'] },
  body: {
    oneOf: [
      closed(
        {
          kind: { const: 's3' },
          endpoint: { type: 'string', pattern: '^https?://[^\\s/]+/?$', maxLength: 300 },
          bucket: { type: 'string', pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{1,62}$' },
          region: { type: 'string', pattern: '^[a-z0-9-]{1,60}$' },
          prefix: { type: 'string', pattern: '^[A-Za-z0-9._/-]{0,200}$' },
          path_style: flag,
          access_key_id: line(200),
          secret_access_key: line(500),
        },
        ['kind', 'endpoint', 'bucket', 'access_key_id', 'secret_access_key'],
      ),
      closed({ kind: { const: 'local' }, path: line(500) }, ['kind', 'path']),
    ],
  } as Shaped<TargetFields>,
  answers: { 200: ['The target', target] },
  refuses: [...USUAL, 422],
  async handle({ params: { name }, body }, { backups }) {
    await backups.parts.targets.put(name, body);
    return reply(200, showTarget(name, body));
  },
});

export const deleteBackupTarget = flow('DELETE /api/backup-targets/:name', {
  needs: 'system:write',
  summary: 'Removes a place for backups that has none',
  answers: { 200: ['It was removed'] },
  refuses: [...ON_APP, 409],
  async handle({ params: { name } }, { apps, backups: { parts } }) {
    const user = apps.all().find(({ spec }) => spec.backup?.target === name);
    if (user) throw failure.conflict(`The app ${user.name} uses this target`);
    if (await parts.repository.usesTarget(name))
      throw failure.conflict('There are backups in this target: delete them first');
    await parts.targets.remove(name);
    return deleted();
  },
});
