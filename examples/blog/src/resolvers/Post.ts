import type * as types from '../generated/types.ts';

const WORDS_A_MINUTE = 200;

export const resolvers = {
  minutes: (post) => Math.max(1, Math.round(post.body.split(/\s+/).length / WORDS_A_MINUTE)),
} satisfies types.PostOverrides;
