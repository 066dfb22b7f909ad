/**
 * Type declarations from two Phaser versions would conflict in one program. The older versions therefore share the
 * declarations of the current version, and the tests use only APIs that all versions have.
 */
declare module 'phaser3' {
  import Phaser = require('phaser');
  export = Phaser;
}
declare module 'phaser360' {
  import Phaser = require('phaser');
  export = Phaser;
}
