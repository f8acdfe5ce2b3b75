// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

import { create, custom, get, list, many, one, remove, through, update } from '@twofold/runtime';
import { resolvers as ofPost } from '../resolvers/Post.ts';

/** The resolver of each field. A field that is not listed is a column, or a property of its parent's value. */
export const fields = {
  Author: {
    posts: many('Post', 'author_id', { inverse: 'author', page: { limit: 'limit', offset: 'offset' }, max: 100 }),
  },
  Comment: {
    post: one('Post', 'post_id', { inverse: 'comments' }),
  },
  Mutation: {
    createAuthor: create('Author', { write: 'Mutation.createAuthor:Author' }),
    createPost: create('Post', { write: 'CreatePostInput:Post', input: 'input' }),
    updatePost: update('Post', ['id'], { write: 'UpdatePostInput:Post', input: 'input' }),
    deletePost: remove('Post', ['id'], { returns: 'boolean' }),
    createComment: create('Comment', { write: 'Mutation.createComment:Comment' }),
    createTag: create('Tag', { write: 'Mutation.createTag:Tag' }),
  },
  Post: {
    author: one('Author', 'author_id', { inverse: 'posts' }),
    comments: many('Comment', 'post_id', { inverse: 'post', paged: true, max: 100 }),
    tags: many('Tag', through('post_tags', 'post_id', 'tag_id'), { inverse: 'posts', paged: true, max: 100 }),
    minutes: custom(),
  },
  Query: {
    author: get('Author', { id: 'id' }),
    authorByEmail: get('Author', { email: 'email' }),
    authors: list('Author', { page: { limit: 'limit', offset: 'offset' }, max: 100 }),
    post: get('Post', { id: 'id' }),
    posts: list('Post', { filters: { status: 'status' }, page: { limit: 'limit', offset: 'offset' }, max: 100 }),
    tags: list('Tag', { paged: true, max: 100 }),
  },
  Tag: {
    posts: many('Post', through('post_tags', 'tag_id', 'post_id'), { inverse: 'tags', paged: true, max: 100 }),
  },
};

/** Your functions: each replaces the inferred resolver above. */
export const resolvers = {
  Post: ofPost,
};
