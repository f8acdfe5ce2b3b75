import { AddDocument, AddedDocument, createClient, PostsDocument } from './api/index.js';

/** Uses each member of the client that needs the runtime, and prints what it saw. */
const [url, email, password] = process.argv.slice(2);
const api = createClient({ url, timeout: 20_000 });
const refused = await api.request(PostsDocument).catch(({ code }) => code);
await api.signIn({ email, password });
const stream = new AbortController();
const event = firstEvent(api.subscribe(AddedDocument, {}, { signal: stream.signal }));
// An event is delivered only to those that listen already.
const timer = setInterval(() => api.request(AddDocument, { title: 'One' }), 200);
const { postCreated } = await event;
clearInterval(timer);
const { posts } = await api.request(PostsDocument, { limit: 1 });
const route = await api.fetch('/api/nothing').catch(({ code }) => code);
stream.abort();
await api.signOut();
const { title } = postCreated;
console.log(JSON.stringify({ refused, title, posts: posts.length, route, session: api.session }));
process.exit(0);

async function firstEvent(events) {
  for await (const event of events) return event;
}
