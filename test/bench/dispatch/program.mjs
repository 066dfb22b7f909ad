/**
 * The benchmark's child process: `node program.mjs <module> <export> <options as JSON>`. Calls the module's export with
 * the options. Then runs the methods that the parent process calls, until the parent exits.
 */
const [file, name, options] = process.argv.slice(2);
const methods = await (await import(file))[name](JSON.parse(options));

process.on('message', ({ id, method, args }) => {
  Promise.resolve(methods[method](...args)).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: error.stack ?? String(error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send({ id: 0 });
