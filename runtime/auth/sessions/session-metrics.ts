import { type Kernel, renderFamilies, type RequestContext } from '@twofold/runtime/kernel';

/** How many sessions could be refreshed now. */
export async function sessionMetrics(
  { store, project, now }: Kernel,
  context: RequestContext,
): Promise<string> {
  const [one, other] = store.dialect === 'postgres' ? ['$1', '$2'] : ['?', '?'];
  const [row] = await store.answerRows(
    {
      text: `select count(*) as count from auth_sessions where revoked_at is null and idle_expires_at > ${one} and absolute_expires_at > ${other}`,
      long: true,
    },
    [now(), now()],
    { asker: context, limits: project.api.limits, sent: false },
  );
  const value = Number(row?.['count'] ?? 0);
  return renderFamilies([
    {
      name: 'auth_sessions',
      help: 'Sessions that have not ended',
      type: 'gauge',
      labels: [],
      samples: [{ of: [], value }],
    },
  ]);
}
