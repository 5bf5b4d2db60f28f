import Testing

/// Everything that runs the real pam_whorl.so, one test after the other: two pam_wrapper runs at once spoil each
/// other, and the machine's two cores are enough for one.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ModuleSuite {}
