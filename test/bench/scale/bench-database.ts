import { openPostgres } from '../../../service/src/store/postgres.ts';
import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';

let made = 0;

/** An empty database of its own on the server, by its address. */
export async function makeDatabase({ url }: PrivatePostgres): Promise<string> {
  const name = `bench_${(made += 1)}`;
  const server = openPostgres(url, (error) => console.error(error));
  await server.query(`CREATE DATABASE ${name}`);
  await server.close();
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
