import { failure } from '@twofold/runtime';
import type * as types from '../generated/types.ts';

export const resolvers = {
  /** The company that the signed-in user works for, one of their own; `extend` puts it into the next token. */
  async joinCompany(_parent, { companyId }, ctx) {
    if (!ctx.user) throw failure.unauthenticated();
    const company = await ctx.db.selectFrom('companies').select('id').where('id', '=', companyId).where('ownerId', '=', ctx.user.id).executeTakeFirst();
    if (!company) throw failure.notFound('Company not found');
    await ctx.db.updateTable('users').set({ companyId: companyId }).where('id', '=', ctx.user.id).execute();
    const user = await ctx.loaders.user.load(ctx.user.id);
    if (!user) throw failure.notFound('User not found');
    return user;
  },
} satisfies types.MutationOverrides;
