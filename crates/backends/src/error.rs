use earlybird_experiment::RunError;
use std::io;

/// Makes the error of a run that this machine could not do.
pub(crate) fn machine_error(problem: &str, error: io::Error) -> RunError {
    RunError::Machine { problem: problem.to_owned(), error }
}
