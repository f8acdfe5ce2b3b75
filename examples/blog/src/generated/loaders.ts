// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { loadMany, loadOne, through } from '@twofold/runtime';
import type * as types from './types.ts';

/** Loaders that fetch rows in batches: `ctx.loaders.user.load(id)`. They are created for every request. */
export const loaders = {
  author: loadOne<types.AuthorRow>('Author', 'id'),
  authorByEmail: loadOne<types.AuthorRow>('Author', 'email'),
  comment: loadOne<types.CommentRow>('Comment', 'id'),
  commentsByPost: loadMany<types.CommentRow>('Comment', 'post_id'),
  post: loadOne<types.PostRow>('Post', 'id'),
  postsByAuthor: loadMany<types.PostRow>('Post', 'author_id'),
  postsByTag: loadMany<types.PostRow>('Post', 'tag_id', through('post_tags', 'tag_id', 'post_id')),
  tag: loadOne<types.TagRow>('Tag', 'id'),
  tagByName: loadOne<types.TagRow>('Tag', 'name'),
  tagsByPost: loadMany<types.TagRow>('Tag', 'post_id', through('post_tags', 'post_id', 'tag_id')),
};
