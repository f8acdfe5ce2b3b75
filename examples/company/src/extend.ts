import type * as types from './generated/types.ts';

/** What a token carries about its user, and the login response shows: asked once for each sign-in. */
export const extend: types.Extend = async (userId, { db }) => {
  const user = await db.selectFrom('users').select('companyId').where('id', '=', userId).executeTakeFirst();
  return { user_id: userId, company_id: user?.companyId ?? null };
};
