// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { loadMany, loadOne, through } from '@twofold/runtime';
import type * as types from './types.ts';

/** Loaders that fetch rows in batches: `ctx.loaders.user.load(id)`. They are created for every request. */
export const loaders = {
  article: loadOne<types.ArticleRow>('Article', 'id'),
  articleBySlug: loadOne<types.ArticleRow>('Article', 'slug'),
  articlesByAuthor: loadMany<types.ArticleRow>('Article', 'author_id'),
  articlesByTag: loadMany<types.ArticleRow>('Article', 'tag_id', through('article_tags', 'tag_id', 'article_id')),
  comment: loadOne<types.CommentRow>('Comment', 'id'),
  commentsByArticle: loadMany<types.CommentRow>('Comment', 'article_id'),
  commentsByAuthor: loadMany<types.CommentRow>('Comment', 'author_id'),
  favoritedByByArticle: loadMany<types.UserRow>('User', 'article_id', through('article_favorited_by', 'article_id', 'user_id')),
  favoritesByUser: loadMany<types.ArticleRow>('Article', 'user_id', through('article_favorited_by', 'user_id', 'article_id')),
  followersByUser: loadMany<types.UserRow>('User', 'user_id', through('follows', 'user_id', 'follower_id')),
  followsByUser: loadMany<types.UserRow>('User', 'follower_id', through('follows', 'follower_id', 'user_id')),
  tag: loadOne<types.TagRow>('Tag', 'id'),
  tagByName: loadOne<types.TagRow>('Tag', 'name'),
  tagsByArticle: loadMany<types.TagRow>('Tag', 'article_id', through('article_tags', 'article_id', 'tag_id')),
  user: loadOne<types.UserRow>('User', 'id'),
  userByEmail: loadOne<types.UserRow>('User', 'email'),
  userByUsername: loadOne<types.UserRow>('User', 'username'),
};
