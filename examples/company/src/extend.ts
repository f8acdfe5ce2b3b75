import type { Extend } from '@twofold/auth';

/** What a token carries about its user, and the login response shows: asked once for each sign-in. */
export const extend: Extend = async (userId, { db }) => {
  const user = await db.selectFrom('users').select('companyId').where('id', '=', userId).executeTakeFirst();
  return { user_id: userId, company_id: user?.companyId ?? null };
};
